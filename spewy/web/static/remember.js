/** Remembers answers to questions, so that a panel which is drawn again does not ask again. */

/**
 * Return a function `remembered(key, question)` that calls `question()` and keeps its promise for the next call with an
 * equal key. Answers that are errors are forgotten.
 * @param {number} most number of answers to keep.
 */
export function remembering(most = 8) {
  const answers = new Map();
  return (key, question) => {
    const text = JSON.stringify(key);
    if (!answers.has(text)) {
      const answer = question();
      answers.set(text, answer);
      answer.catch(() => answers.delete(text));
      if (answers.size > most) answers.delete(answers.keys().next().value);
    }
    return answers.get(text);
  };
}

/** Return what identifies a position and the state of its solve. */
export function positionKey({ folder, position, filter }) {
  return [folder, position.progress, position.line, position.board, filter];
}
