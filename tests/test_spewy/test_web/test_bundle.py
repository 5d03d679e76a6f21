"""Modules of the pages, joined into one script."""

import re
from collections import Counter

import pytest

from spewy.web.bundle import STATIC, bundle, styles, top_level_names

MODULES = {path.name: path.read_text("utf-8") for path in sorted(STATIC.glob("*.js"))}


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text)
    return folder


def test_every_top_level_name_is_unique_over_all_modules():
    counts = Counter(name for text in MODULES.values() for name in top_level_names(text))
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_whole_page_can_be_joined():
    script = bundle("main.js")
    assert re.findall(r"^// ([\w-]+\.js)$", script, re.MULTILINE)[-1] == "main.js"
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert set(top_level_names(script)) >= set(top_level_names(MODULES["look.js"]))


def test_a_module_stands_after_those_that_it_imports(tmp_path):
    write(
        tmp_path,
        start='import { b } from "./b.js";\nimport { c } from "./c.js";\nb(c);\n',
        b='import {\n  c,\n} from "./c.js";\nimport "./d.js";\nexport function b() {\n  return c;\n}\n',
        c="export const c = 1;\n",
        d="document.title = 'd';\n",
    )
    assert bundle("start.js", tmp_path) == (
        "// c.js\nconst c = 1;\n\n// d.js\ndocument.title = 'd';\n\n"
        "// b.js\nfunction b() {\n  return c;\n}\n\n// start.js\nb(c);\n"
    )


B = 'import { b } from "./b.js";\n'


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        ({"start": B}, "module b.js: there is no such file"),
        ({"start": B, "b": "export function a() {}\n"}, "start.js: imports b, which b.js does not export"),
        ({"start": B, "b": "function b() {}\n"}, "module start.js: imports b, which b.js does not export"),
        (
            {"start": f"{B}let c = 1;\n", "b": "export const b = 1;\nconst [c] = [2];\n"},
            "modules b.js and start.js: both declare c at their top level",
        ),
        ({"start": 'import "./b.js";\n', "b": 'import "./start.js";\n'}, "start.js: it imports itself, by"),
        ({"start": 'import * as b from "./b.js";\n', "b": ""}, "start.js: cannot be joined: import \\* as b"),
        ({"start": "const a = 1;\nexport { a };\n"}, "start.js: cannot be joined: export { a };"),
        ({"start": "export default 1;\n"}, "start.js: cannot be joined: export default 1;"),
        ({"start": 'const b = await import("./b.js");\n'}, "start.js: cannot be joined: import"),
        ({"start": 'import { b } from "https://example.org/b.js";\n'}, "start.js: cannot be joined: import"),
    ],
)
def test_what_cannot_be_joined_is_an_error(tmp_path, texts, error):
    with pytest.raises(ValueError, match=error):
        bundle("start.js", write(tmp_path, **texts))


def test_names_are_found_in_all_declarations():
    text = (
        "export async function a() {}\nclass B {}\nconst { c, d } = e;\nlet [f, g] = h;\n  const inner = 1;\n"
    )
    assert top_level_names(text) == {"a": True, "B": False, "c": False, "d": False, "f": False, "g": False}


def test_styles_are_those_of_the_page():
    assert styles().startswith((STATIC / "style.css").read_text("utf-8"))
