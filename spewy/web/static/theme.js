/** Lets a reader choose between light and dark colours; the browser remembers the choice. */

/** Make a button switch between light and dark colours, and use the colours that were chosen last. */
export function startTheme(button) {
  const chosen = storedTheme();
  if (chosen) document.documentElement.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    storeTheme(document.documentElement.dataset.theme);
  });
}

function storedTheme() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // the browser keeps nothing for this page
  }
}

function storeTheme(theme) {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // the choice holds until the page is closed
  }
}
