/** Remembers answers to questions, so that a panel which is drawn again does not ask again. */

/**
 * Return a function `remembered(key, question)` that waits for `question()` and keeps its answer for the next call with
 * an equal key. Errors are not kept.
 * @param {number} most number of answers to keep.
 */
export function remembering(most = 8) {
  const answers = new Map();
  return async (key, question) => {
    const text = JSON.stringify(key);
    if (!answers.has(text)) {
      answers.set(text, await question());
      if (answers.size > most) answers.delete(answers.keys().next().value);
    }
    return answers.get(text);
  };
}

/** Return a key that identifies a position, its filter, and the saved state of its solve. */
export function positionKey({ folder, position, filter }) {
  return [folder, position.progress, position.line, position.board, filter];
}
