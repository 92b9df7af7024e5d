/**
 * Owns the splitting of a task into parts, and the sentences in which a part is handed to a child.
 *
 * Invariants:
 *  1. A task of the rehearsal's own wording is understood by the child exactly; any other is split as a user's would be.
 *  2. There are two to four parts, in the order in which an answer is read: the project first, details last.
 */

import { clausesOf, filesNamedIn, type Keyword, keywordsOf, subjectsOf, wordsOf } from "./keywords.ts";

export type SearchScope = "source" | "documents" | "all";

/** What there is to find out. */
export type Question =
  | { readonly kind: "describe" }
  | { readonly kind: "map" }
  | { readonly kind: "source" }
  | { readonly kind: "tests" }
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "search"; readonly scope: SearchScope; readonly words: readonly string[] };

export interface Part {
  readonly label: string;
  readonly task: string;
  readonly question: Question;
}

const PARTS_LIMIT = 4;
const ORDER: readonly Question["kind"][] = ["describe", "map", "source", "tests", "read", "search"];
/** Which parts stay when there are too many. */
const IMPORTANCE: readonly Question["kind"][] = ["read", "search", "describe", "source", "tests", "map"];

const SENTENCES = {
  describe: "Read what the project says about itself: its manifest and its README.",
  map: "Map the folder: its main folders, and how many files of which kind they hold.",
  source: "Look into the source: its main files, and what they say they do.",
  tests: "Find the tests: where they are, how many there are and how they are run.",
} as const;
const LABELS = {
  describe: "The project in its own words",
  map: "The folder",
  source: "The source",
  tests: "The tests",
} as const;
const PLACES = { source: "the source", documents: "the documents and settings", all: "all files" } as const;

/** The parts of a user's task; none if there is nothing to look for. */
export function partsOf(task: string): readonly Part[] {
  const questions = questionsIn(task);
  if (questions.length === 0) return [];
  for (const kind of ["map", "describe"] as const) {
    if (questions.length < 2 && !questions.some((question) => question.kind === kind)) questions.push({ kind });
  }
  const byImportance = questions.toSorted(
    (left, right) => IMPORTANCE.indexOf(left.kind) - IMPORTANCE.indexOf(right.kind),
  );
  const kept = new Set(byImportance.slice(0, PARTS_LIMIT));
  return questions
    .filter((question) => kept.has(question))
    .toSorted((left, right) => ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind))
    .map((question) => ({ label: labelOf(question), task: sentenceOf(question), question }));
}

/** What a child is asked: one question in the rehearsal's own words, or all there are in somebody else's. */
export function questionsOfChild(task: string): readonly Question[] {
  for (const kind of ["describe", "map", "source", "tests"] as const)
    if (task.includes(SENTENCES[kind])) return [{ kind }];
  const read = /^Read these files: (.+)\.$/m.exec(task);
  if (read !== null) return [{ kind: "read", paths: quoted(read[1] ?? "") }];
  for (const scope of ["source", "documents", "all"] as const) {
    const start = `Search ${PLACES[scope]} for: `;
    const line = task.split("\n").find((candidate) => candidate.startsWith(start));
    if (line !== undefined) return [{ kind: "search", scope, words: quoted(line) }];
  }
  const questions = questionsIn(task);
  const searches = questions.filter((question) => question.kind === "search");
  if (searches.length === 0) return questions.length > 0 ? questions : [{ kind: "describe" }, { kind: "map" }];
  const words = [...new Set(searches.flatMap((search) => search.words))].slice(0, 5);
  return [...questions.filter((question) => question.kind !== "search"), { kind: "search", scope: "all", words }];
}

function questionsIn(task: string): Question[] {
  const questions: Question[] = [];
  const paths = filesNamedIn(task);
  const subjects = subjectsOf(task);
  const keywords = keywordsOf(task);
  if (subjects.has("project")) questions.push({ kind: "describe" }, { kind: "map" });
  if (subjects.has("source"))
    questions.push(...(subjects.has("project") ? [] : [{ kind: "map" } as const]), { kind: "source" });
  if (subjects.has("tests")) questions.push({ kind: "tests" });
  if (paths.length > 0) questions.push({ kind: "read", paths });
  if (keywords.length > 0) questions.push(...searches(task, keywords, questions.length));
  if (questions.length === 0 && wordsOf(task).length >= 3) questions.push({ kind: "describe" }, { kind: "map" });
  return questions;
}

/** By clause if several have keywords; else, if nothing else is asked, the source apart from documents and settings. */
function searches(task: string, keywords: readonly Keyword[], others: number): readonly Question[] {
  const taken = new Set<string>();
  const groups = clausesOf(task).flatMap((clause) => {
    const stems = new Set(keywordsOf(clause).map((keyword) => keyword.stem));
    const here = keywords.filter(({ stem }) => stems.has(stem) && !taken.has(stem));
    for (const { stem } of here) taken.add(stem);
    return here.length > 0 ? [here.map(({ word }) => word)] : [];
  });
  if (groups.length > 1 && others < 2)
    return groups.slice(0, 3).map((words) => ({ kind: "search", scope: "all", words }));
  const words = keywords.map((keyword) => keyword.word);
  if (others > 0) return [{ kind: "search", scope: "all", words }];
  return [
    { kind: "search", scope: "source", words },
    { kind: "search", scope: "documents", words },
  ];
}

function labelOf(question: Question): string {
  switch (question.kind) {
    case "read":
      return `What ${question.paths.join(", ")} ${question.paths.length === 1 ? "says" : "say"}`
        .slice(0, 120)
        .toWellFormed();
    case "search": {
      const place = { source: "In the source", documents: "In documents and settings", all: "In the files" }[
        question.scope
      ];
      return `${place}: ${question.words.join(", ")}`.slice(0, 120).toWellFormed();
    }
    default:
      return LABELS[question.kind];
  }
}

function sentenceOf(question: Question): string {
  switch (question.kind) {
    case "read":
      return `Read these files: ${question.paths.map((path) => `\`${path}\``).join(", ")}.`;
    case "search":
      return `Search ${PLACES[question.scope]} for: ${question.words.map((word) => `\`${word}\``).join(", ")}.`;
    default:
      return SENTENCES[question.kind];
  }
}

function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "").slice(0, 5);
}
