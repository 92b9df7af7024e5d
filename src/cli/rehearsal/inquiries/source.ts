/** How the source is organised: its main files, and what their first comments say. */

import type { Action, Evidence, Inquiry } from "../conversation.ts";
import { codeIs, testIs, weightOf } from "../file-kinds.ts";
import { byCount, fileLines, type Listing, nameOf, tally } from "../tool-outputs.ts";
import { firstSentence, listed, shorten } from "../wording.ts";
import { countLabel } from "../../../view/amounts.ts";

const FILES_READ = 8;
const FOLDERS_SHOWN = 6;
const ENTRY = /^(index|main|app|cli|server|lib|mod|__main__|__init__|program|create-.*)\.[^.]+$/i;
const COMMENT =
  /^\s*(?:\/\*\*?|\*(?!\/)|\/\/[/!]?|#(?!!|include|\[|define|if)|"""|'''|--)\s?(.*?)\s*(?:\*\/|"""|''')?\s*$/;
/** Comments for tools and lawyers, and rulers. */
const NOT_ABOUT_CODE = /copyright|licen[cs]e|spdx|eslint|oxlint|@ts-|prettier|coding[:=]|^=+$|^-+$/i;
const KEYWORDS = "function\\*?|class|interface|type|const|def|fn|func|struct|trait|enum";
export const DEFINITION = new RegExp(
  `^\\s*(?:export\\s+|pub\\s+|public\\s+)?(?:default\\s+|async\\s+|abstract\\s+)*(?:${KEYWORDS})\\s+([\\w$]+)`,
);

export function sourceInquiry({ paths }: Listing, evidence: Evidence): Inquiry {
  const source = paths.filter(sourceIs);
  const main = mainFiles(source);
  return {
    actions: main.map(readBeginning),
    findings() {
      if (source.length === 0) return ["- no source files that a program is written in"];
      const folders = byCount(tally(source.map(folderOf))).map(([folder, number]) => `${folder} ${number}`);
      const where = `${countLabel(folders.length, "folder")}: ${listed(folders, FOLDERS_SHOWN)}`;
      const files = main.flatMap((path) => {
        const output = evidence.output(readBeginning(path));
        return output === null ? [] : [`- ${path}: ${purposeOf(fileLines(output))}`];
      });
      return [`- ${countLabel(source.length, "source file")} in ${where}`, ...files];
    },
  };
}

/** The first comment of a file; the names that it defines if it has none. */
export function purposeOf(lines: readonly string[]): string {
  const comment = firstComment(lines);
  if (comment !== "") return shorten(firstSentence(comment), 160);
  const names = new Set(lines.flatMap((line) => DEFINITION.exec(line)?.[1] ?? []));
  return names.size > 0 ? `defines ${[...names].slice(0, 5).join(", ")}` : "no comment at its beginning";
}

function firstComment(lines: readonly string[]): string {
  const words: string[] = [];
  for (const line of lines) {
    const comment = COMMENT.exec(line)?.[1];
    const text = (comment ?? "").replace(/^\*\/|\*\/$/, "").trim();
    const ends = comment === undefined ? line.trim() !== "" : text === "";
    if (ends && words.length > 0) break;
    if (text !== "" && !NOT_ABOUT_CODE.test(text)) words.push(text);
  }
  return words.join(" ");
}

/** Entry points, then one file of each other folder, then the rest; the shallowest first. */
function mainFiles(source: readonly string[]): readonly string[] {
  const depth = (path: string): number => path.split("/").length;
  const shallow = source.toSorted((left, right) => depth(left) - depth(right) || (left < right ? -1 : 1));
  const main = new Set(shallow.filter((path) => ENTRY.test(nameOf(path))).slice(0, FILES_READ / 2));
  const folders = new Set([...main].map(folderOf));
  for (const path of shallow) {
    if (!folders.has(folderOf(path))) main.add(path);
    folders.add(folderOf(path));
  }
  return [...new Set([...main, ...shallow])].slice(0, FILES_READ);
}

function sourceIs(path: string): boolean {
  return codeIs(path) && !testIs(path) && weightOf(path) > 1 && !/(^|\/)\.|\.config\.[^.]+$|\.d\.ts$/.test(path);
}

function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
}

function readBeginning(path: string): Action {
  return { name: "read_file", input: { path, limit: 30 } };
}
