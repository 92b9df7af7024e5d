/**
 * Owns the reading of what `list_files` answers.
 *
 * Invariant: what it does not know it leaves out; an answer in another shape is an empty listing, not an error.
 */

import type { Action, Evidence } from "./evidence.ts";

export interface Listing {
  readonly files: number;
  readonly folders: number;
  readonly paths: readonly string[];
  /** Files by first folder (`./` for none), and of them by extension; whole also when `paths` is not. */
  readonly counts: ReadonlyMap<string, FolderCount>;
}

export interface FolderCount {
  readonly files: number;
  readonly kinds: ReadonlyMap<string, number>;
}

export const LIST_ALL: Action = { name: "list_files", input: { limit: 1500 } };

export function listingOf(evidence: Evidence): Listing | null {
  const output = evidence.output(LIST_ALL);
  return output === null ? null : readListing(output);
}

function readListing(output: string): Listing {
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

export function extensionOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "no extension";
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The most frequent first; equals in code unit order. */
export function byCount(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].toSorted((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1));
}

export function tally(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function countPaths(paths: readonly string[]): ReadonlyMap<string, FolderCount> {
  const groups = Map.groupBy(paths, (path) => (path.includes("/") ? path.slice(0, path.indexOf("/") + 1) : "./"));
  return new Map(
    [...groups].map(([folder, inside]) => [folder, { files: inside.length, kinds: tally(inside.map(extensionOf)) }]),
  );
}

function readCounts(lines: readonly string[]): ReadonlyMap<string, FolderCount> {
  const counts = new Map<string, FolderCount>();
  for (const line of lines) {
    const match = /^(.*\/) (\d+) files? \((.*)\)$/.exec(line);
    if (match === null) continue;
    const kinds = (match[3] ?? "").split(", ").map((kind): readonly [string, number] => {
      const space = kind.lastIndexOf(" ");
      return [kind.slice(0, space), Number(kind.slice(space + 1))];
    });
    counts.set(match[1] ?? "", { files: Number(match[2]), kinds: new Map(kinds) });
  }
  return counts;
}
