/**
 * A path as rules judge it.
 *
 * Invariants:
 *  1. In doubt a rule that restricts matches and a rule that allows does not. In doubt are absolute paths, paths that
 *     lead up, very long or deep ones, and short names of FAT.
 *  2. Judging takes at most STEPS steps for each spelling of a pattern. A path and a pattern that would take more are
 *     in doubt.
 *  3. A rule that restricts a folder restricts what is in it, in upper and lower case, and with dots or blanks at the
 *     end of a name.
 */

import { createGlob, type Glob, GLOB_LENGTH } from "../text/glob.ts";

export interface JudgedPath {
  /** Without `.`, `..` and empty names. */
  readonly names: readonly string[];
  /** False: it may lead to another place than it seems. */
  readonly certain: boolean;
  /** As `certain`, for rules that allow. Behind a symlink, `a/..` is not where it seems to be. */
  readonly plain: boolean;
  readonly tooLong: boolean;
}

export interface PathPattern {
  allows(path: JudgedPath): boolean;
  restricts(path: JudgedPath): boolean;
  /** True if the pattern is the path of exactly this file. */
  names(path: JudgedPath): boolean;
  readonly cost: number;
}

const NAMES_LIMIT = 64;
const LENGTH_LIMIT = 4_096;
const STEPS = 500_000;
const SHORT_NAME = /~\d/;
const WILD = /[*?[\]{}\\]/;

export function judgedPath(path: string): JudgedPath {
  if (path.length > LENGTH_LIMIT) return { names: [], certain: false, plain: false, tooLong: true };
  const names: string[] = [];
  let certain = !path.startsWith("/") && !path.includes("\\") && !path.includes("\0");
  let plain = certain && !SHORT_NAME.test(path);
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") {
      names.push(name);
      continue;
    }
    plain = false;
    if (names.pop() === undefined) certain = false;
  }
  return { names, certain, plain: plain && certain, tooLong: names.length > NAMES_LIMIT };
}

export function createPathPattern(pattern: string): PathPattern {
  const exact = createGlob(pattern);
  const folded = createGlob(pattern.toLowerCase());
  return {
    allows: ({ names, plain, tooLong }) =>
      plain && !tooLong && exact.cost * lengthOf(names) <= STEPS && exact.matches(names.join("/") || "."),
    restricts(path) {
      if (path.tooLong || pattern.length > GLOB_LENGTH) return true;
      return restrictsNames(exact, path.names, path) || restrictsNames(folded, path.names.map(foldedName), path);
    },
    names: ({ names, plain }) => plain && !WILD.test(pattern) && pattern.replace(/^\.\//, "") === names.join("/"),
    cost: 2 * (exact.cost + folded.cost),
  };
}

function restrictsNames(glob: Glob, names: readonly string[], { certain }: JudgedPath): boolean {
  if (names.length === 0) return glob.matches(".");
  const starts = certain ? [0] : names.map((_, index) => index);
  // The beginnings of a path are half as long as the path, on average.
  if ((glob.cost * lengthOf(names) * names.length * starts.length) / 2 > STEPS) return true;
  return starts.some((start) =>
    names.some((_, end) => end >= start && glob.matches(names.slice(start, end + 1).join("/"))),
  );
}

function lengthOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + name.length + 1, 0);
}

/** A name as a file system without case may read it: no dots and blanks at its end, no stream name. */
export function foldedName(name: string): string {
  const whole = name.split(":", 1)[0] ?? "";
  let end = whole.length;
  while (end > 0 && (whole[end - 1] === "." || whole[end - 1] === " ")) end--;
  return (whole.slice(0, end) || name).toLowerCase();
}
