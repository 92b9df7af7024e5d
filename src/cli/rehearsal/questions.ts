/**
 * Splits a task into questions, and words each question as a task for a child.
 *
 * Invariants:
 *  1. A child understands tasks in this wording exactly. Other tasks are split like a user's.
 *  2. A task has two to four parts, in the order in which the answer is read: the project first, details last.
 */

import { clausesOf, filesNamedIn, type Keyword, keywordsOf, subjectsOf, wordsOf } from "./keywords.ts";

export type SearchScope = "source" | "documents" | "all";

export type Question =
  | { readonly kind: "describe" | "map" | "source" | "tests" }
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "search"; readonly scope: SearchScope; readonly words: readonly string[] };

/** A question as a task for a child. */
export interface Part {
  readonly label: string;
  readonly task: string;
}

const MAX_PARTS = 4;
const MAX_QUOTED = 5;
const LABEL_LENGTH = 120;
const ORDER: readonly Question["kind"][] = ["describe", "map", "source", "tests", "read", "search"];
/** The first ones stay if there are too many parts. */
const IMPORTANCE: readonly Question["kind"][] = ["read", "search", "describe", "source", "tests", "map"];

const FIXED_PARTS = {
  describe: {
    label: "The project in its own words",
    task: "Read what the project says about itself: its manifest and its README.",
  },
  map: {
    label: "The folder",
    task: "Map the folder: its main folders, and how many files of which kind they hold.",
  },
  source: { label: "The source", task: "Look into the source: its main files, and what they say they do." },
  tests: { label: "The tests", task: "Find the tests: where they are, how many there are and how they are run." },
} as const satisfies Record<string, Part>;
const FIXED_KINDS = ["describe", "map", "source", "tests"] as const;

const SCOPES = {
  source: { label: "In the source", where: "the source" },
  documents: { label: "In documents and settings", where: "the documents and settings" },
  all: { label: "In the files", where: "all files" },
} as const;

/** The parts of a user's task; none if there is nothing to look for. */
export function partsOf(task: string): readonly Part[] {
  const questions = questionsIn(task);
  if (questions.length === 0) return [];
  for (const kind of ["map", "describe"] as const) {
    if (questions.length < 2 && !questions.some((question) => question.kind === kind)) questions.push({ kind });
  }
  return inOrder(inOrder(questions, IMPORTANCE).slice(0, MAX_PARTS), ORDER).map(partFor);
}

/** The question of a child's task; all questions in it if it is not worded by `partsOf`. */
export function questionsOfChild(task: string): readonly Question[] {
  for (const kind of FIXED_KINDS) if (task.includes(FIXED_PARTS[kind].task)) return [{ kind }];
  const read = /^Read these files: (.+)\.$/m.exec(task)?.[1];
  if (read !== undefined) return [{ kind: "read", paths: quotedIn(read) }];
  for (const scope of ["source", "documents", "all"] as const) {
    const line = task.split("\n").find((one) => one.startsWith(`Search ${SCOPES[scope].where} for: `));
    if (line !== undefined) return [{ kind: "search", scope, words: quotedIn(line) }];
  }
  const questions = questionsIn(task);
  const words = questions.flatMap((question) => (question.kind === "search" ? question.words : []));
  const others = questions.filter(({ kind }) => kind !== "search");
  if (words.length > 0) return [...others, { kind: "search", scope: "all", words: [...new Set(words)].slice(0, 5) }];
  return others.length > 0 ? others : [{ kind: "describe" }, { kind: "map" }];
}

function questionsIn(task: string): Question[] {
  const subjects = subjectsOf(task);
  const paths = filesNamedIn(task);
  const keywords = keywordsOf(task);
  const questions: Question[] = [];
  if (subjects.has("project")) questions.push({ kind: "describe" });
  if (subjects.has("project") || subjects.has("source")) questions.push({ kind: "map" });
  if (subjects.has("source")) questions.push({ kind: "source" });
  if (subjects.has("tests")) questions.push({ kind: "tests" });
  if (paths.length > 0) questions.push({ kind: "read", paths });
  if (keywords.length > 0) questions.push(...searches(task, keywords, questions.length));
  if (questions.length === 0 && wordsOf(task).length >= 3) questions.push({ kind: "describe" }, { kind: "map" });
  return questions;
}

/** One search for each clause with keywords. If there is only one clause and no other question, one for each scope. */
function searches(task: string, keywords: readonly Keyword[], others: number): readonly Question[] {
  const taken = new Set<string>();
  const groups = clausesOf(task).flatMap((clause) => {
    const stems = new Set(keywordsOf(clause).map(({ stem }) => stem));
    const here = keywords.filter(({ stem }) => stems.has(stem) && !taken.has(stem));
    for (const { stem } of here) taken.add(stem);
    return here.length > 0 ? [here.map(({ word }) => word)] : [];
  });
  if (groups.length > 1 && others < 2)
    return groups.slice(0, 3).map((words) => ({ kind: "search", scope: "all", words }));
  const words = keywords.map(({ word }) => word);
  const scopes = others > 0 ? (["all"] as const) : (["source", "documents"] as const);
  return scopes.map((scope) => ({ kind: "search", scope, words }));
}

function partFor(question: Question): Part {
  switch (question.kind) {
    case "read": {
      const { paths } = question;
      const label = `What ${paths.join(", ")} ${paths.length === 1 ? "says" : "say"}`;
      return { label: shortLabel(label), task: `Read these files: ${quoted(paths)}.` };
    }
    case "search": {
      const { label, where } = SCOPES[question.scope];
      const { words } = question;
      return { label: shortLabel(`${label}: ${words.join(", ")}`), task: `Search ${where} for: ${quoted(words)}.` };
    }
    default:
      return FIXED_PARTS[question.kind];
  }
}

function inOrder(questions: readonly Question[], order: readonly Question["kind"][]): readonly Question[] {
  return questions.toSorted((left, right) => order.indexOf(left.kind) - order.indexOf(right.kind));
}

function shortLabel(label: string): string {
  return label.slice(0, LABEL_LENGTH).toWellFormed();
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}

function quotedIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "").slice(0, MAX_QUOTED);
}
