/** Reads the answers of the file tools. Lines that it does not know are ignored. */

import type { Action, Evidence } from "./conversation.ts";

export interface Listing {
  readonly files: number;
  readonly folders: number;
  readonly paths: readonly string[];
  /** By first folder, `./` for files outside folders. Complete even if `paths` is not. */
  readonly counts: ReadonlyMap<string, FolderCount>;
}

export interface FolderCount {
  readonly files: number;
  /** By extension. */
  readonly kinds: ReadonlyMap<string, number>;
}

export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Hits {
  /** All matching lines, including those not shown. */
  readonly total: number;
  readonly files: number;
  readonly lines: readonly Hit[];
}

/** As `list_files` writes it. */
export const NO_EXTENSION = "no extension";

export const LIST_ALL: Action = { name: "list_files", input: { limit: 1500 } };

/** Null if the files were not listed. */
export function listingOf(evidence: Evidence): Listing | null {
  const output = evidence.output(LIST_ALL);
  if (output === null) return null;
  const [first = "", ...lines] = output.split("\n");
  const numbers = /^(\d+) files?.*\((\d+) folders? opened/.exec(first);
  const cut = lines.findIndex((line) => line.startsWith("[truncated:"));
  const paths = (cut < 0 ? lines : lines.slice(0, cut)).filter(
    (line) => line !== "" && !line.endsWith("/") && !line.endsWith(" (symlink, not followed)"),
  );
  return {
    files: Number(numbers?.[1] ?? paths.length),
    folders: Number(numbers?.[2] ?? 0),
    paths,
    counts: cut < 0 ? countPaths(paths) : readCounts(lines.slice(cut + 1)),
  };
}

export function readHits(output: string): Hits {
  const numbers = /^(\d+) matching lines in (\d+) of/.exec(output);
  const lines = [...output.matchAll(/^(.+?):(\d+): (.*)$/gm)].map(([, path = "", line, text = ""]): Hit => ({
    path,
    line: Number(line),
    text,
  }));
  return { total: Number(numbers?.[1] ?? 0), files: Number(numbers?.[2] ?? 0), lines };
}

/** The lines of a `read_file` answer, with their numbers. */
export function numberedLines(output: string): readonly { readonly line: number; readonly text: string }[] {
  return [...output.matchAll(/^(\d+)\t(.*)$/gm)].map(([, line, text = ""]) => ({ line: Number(line), text }));
}

export function fileLines(output: string): readonly string[] {
  return numberedLines(output).map(({ text }) => text);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function extensionOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : NO_EXTENSION;
}

export function tally(keys: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(keys, (key) => key)].map(([key, all]) => [key, all.length]));
}

/** The highest first, equals in code unit order. */
export function byCount(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].toSorted((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1));
}

function countPaths(paths: readonly string[]): ReadonlyMap<string, FolderCount> {
  const groups = Map.groupBy(paths, (path) => path.slice(0, path.indexOf("/") + 1) || "./");
  return new Map(
    [...groups].map(([folder, inside]) => [folder, { files: inside.length, kinds: tally(inside.map(extensionOf)) }]),
  );
}

/** The folder lines of a list that was cut, such as `src/ 31 files (.ts 30, .md 1)`. */
function readCounts(lines: readonly string[]): ReadonlyMap<string, FolderCount> {
  const counts = lines.flatMap((line) => {
    const [, folder = "", files, kinds = ""] = /^(.*\/) (\d+) files? \((.*)\)$/.exec(line) ?? [];
    const numbers = [...kinds.matchAll(/([^,]+) (\d+)(?:, |$)/g)].map(
      ([, kind = "", number]) => [kind, Number(number)] as const,
    );
    return folder === "" ? [] : [[folder, { files: Number(files), kinds: new Map(numbers) }] as const];
  });
  return new Map(counts);
}
