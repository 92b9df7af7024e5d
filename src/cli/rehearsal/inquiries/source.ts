/** Owns the question how the source is organised: its main files, and what their first comment says they do. */

import type { Action } from "../evidence.ts";
import { codeIs, testIs, weightOf } from "../file-kinds.ts";
import { byCount, LIST_ALL, type Listing, listingOf, nameOf, tally } from "../listing.ts";
import { count, fileLines, firstSentence, shorten } from "../wording.ts";
import type { Inquiry } from "./inquiry.ts";

const FILES_READ = 8;
const FOLDERS_SHOWN = 6;
const ENTRY = /^(index|main|app|cli|server|lib|mod|__main__|__init__|program|create-.*)\.[^.]+$/i;

export function createSourceInquiry(): Inquiry {
  return {
    actions(evidence) {
      const listing = listingOf(evidence);
      return listing === null ? [LIST_ALL] : [LIST_ALL, ...mainFiles(listing).map(headAction)];
    },
    findings(evidence) {
      const listing = listingOf(evidence);
      if (listing === null) return [];
      const source = listing.paths.filter(sourceIs);
      if (source.length === 0) return ["- no source files that a program is written in"];
      const folders = byCount(tally(source.map(folderOf)));
      const shown = folders.slice(0, FOLDERS_SHOWN).map(([folder, number]) => `${folder} ${number}`);
      return [
        `- ${count(source.length, "source file")} in ${count(folders.length, "folder")}: ${shown.join(", ")}${folders.length > FOLDERS_SHOWN ? ", …" : ""}`,
        ...mainFiles(listing).flatMap((path) => {
          const output = evidence.output(headAction(path));
          return output === null ? [] : [`- ${path}: ${saysOf(fileLines(output))}`];
        }),
      ];
    },
  };
}

/** What a file's first lines say it is: its first comment, or else the names it defines. */
export function saysOf(lines: readonly string[]): string {
  const comment = firstComment(lines);
  if (comment !== "") return shorten(firstSentence(comment), 160);
  const names = lines.flatMap(
    (line) =>
      /^\s*(?:export\s+|pub\s+|public\s+)?(?:default\s+|async\s+|abstract\s+)*(?:function\*?|class|interface|type|const|def|fn|func|struct|trait|enum)\s+([\w$]+)/.exec(
        line,
      )?.[1] ?? [],
  );
  if (names.length > 0) return `defines ${[...new Set(names)].slice(0, 5).join(", ")}`;
  return "no comment at its beginning";
}

function firstComment(lines: readonly string[]): string {
  const words: string[] = [];
  for (const line of lines) {
    const match =
      /^\s*(?:\/\*\*?|\*(?!\/)|\/\/[/!]?|#(?!!|include|\[|define|if)|"""|'''|--)\s?(.*?)\s*(?:\*\/|"""|''')?\s*$/.exec(
        line,
      );
    if (match === null) {
      if (words.length > 0 && !/^\s*$/.test(line)) break;
      continue;
    }
    const text = (match[1] ?? "").replace(/^\*\/|\*\/$/, "").trim();
    if (/copyright|licen[cs]e|spdx|eslint|oxlint|@ts-|prettier|coding[:=]|^=+$|^-+$/i.test(text)) continue;
    if (text === "" && words.length > 0) break;
    if (text !== "") words.push(text);
  }
  return words.join(" ");
}

/** Entry points first, the shallowest before; then the first file of each folder that has none yet. */
function mainFiles(listing: Listing): readonly string[] {
  const source = listing.paths.filter(sourceIs);
  const depth = (path: string): number => path.split("/").length;
  const shallow = source.toSorted((left, right) => depth(left) - depth(right) || (left < right ? -1 : 1));
  const entries = shallow.filter((path) => ENTRY.test(nameOf(path))).slice(0, FILES_READ / 2);
  const seen = new Set(entries.map(folderOf));
  const others = shallow.filter((path) => {
    if (entries.includes(path) || seen.has(folderOf(path))) return false;
    seen.add(folderOf(path));
    return true;
  });
  const more = shallow.filter((path) => !entries.includes(path) && !others.includes(path));
  return [...entries, ...others, ...more].slice(0, FILES_READ);
}

function sourceIs(path: string): boolean {
  return codeIs(path) && !testIs(path) && weightOf(path) > 1 && !/(^|\/)\.|\.config\.[^.]+$|\.d\.ts$/.test(path);
}

function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
}

function headAction(path: string): Action {
  return { name: "read_file", input: { path, limit: 30 } };
}
