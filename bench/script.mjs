/**
 * The script of every model in the benchmark: the same texts for each library, at zero latency. A parent gets items,
 * hands each to a child and answers with the results. A child looks its item up with one tool call and answers.
 */

/** @param {number} number */
export const askOne = (number) => `delegate item ${number}`;
/** @param {number} count */
export const askMany = (count) => `fan out ${count}`;
/** @param {number} number */
export const answerOne = (number) => `answer: value of item ${number}`;
/** @param {number} count */
export const answerMany = (count) => `answer: ${count} of ${count}`;

/**
 * The tasks that a parent delegates for a user's message.
 * @param {string} message
 */
export function tasksFor(message) {
  const many = /fan out (\d+)/.exec(message);
  if (many !== null) return Array.from({ length: Number(many[1]) }, (_, index) => `item ${index}`);
  return [itemIn(message)];
}

/**
 * The answer of a parent whose children have answered.
 * @param {readonly string[]} results in the order of the calls
 */
export function answerFor(results) {
  if (results.length === 1) return `answer: ${/value of item \d+/.exec(results[0] ?? "")?.[0] ?? "nothing"}`;
  const right = results.filter((text, index) => text.includes(`value of item ${index}`)).length;
  return `answer: ${right} of ${results.length}`;
}

/**
 * The item of a child's task.
 * @param {string} task
 */
export function itemIn(task) {
  return /item \d+/.exec(task)?.[0] ?? "nothing";
}

export const PARENT_PROMPT = "You delegate.";
export const CHILD_PROMPT = "You look things up.";

/** The number of tool calls of the children. Every run asserts it. */
export const lookups = { count: 0 };

/** @param {string} key */
export function lookUp(key) {
  lookups.count += 1;
  return `value of ${key}`;
}
