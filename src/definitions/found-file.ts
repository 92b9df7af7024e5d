/** The files of one convention in one folder, with what each defines. */

import { hash } from "node:crypto";
import { basename, dirname } from "node:path";
import type { FileJudge } from "../core/permissions/permissions.ts";
import type { Parsed, Warning } from "./fields.ts";
import { MAX_FILES, namesIn, pathIn, readText } from "./folder-files.ts";

export interface FoundFile<Kind, Found> {
  readonly path: string;
  readonly kind: Kind;
  /** The program whose convention it follows: `errand`, `claude`, `gemini`, … */
  readonly program: string;
  readonly place: "project" | "home";
  /** SHA-256 of its text in hexadecimal; null if it could not be read. */
  readonly hash: string | null;
  /** True if its path has a symlink. */
  readonly linked: boolean;
  /** What it defines, used or not; null if it defines nothing. */
  readonly found: Found | null;
  readonly warnings: readonly Warning[];
}

export interface FolderOptions<Kind, Found> {
  /** The project or home folder. */
  readonly root: string;
  readonly folder: string;
  readonly source: Pick<FoundFile<Kind, Found>, "kind" | "program" | "place">;
  /** The end of the files' names. */
  readonly ending: string;
  /** The name of the file in each folder; undefined if the files are in `folder` itself. */
  readonly fileName?: string;
  readonly judge: FileJudge | null;
  /** How many more files are read of this project or home. */
  readonly room: { left: number };
  /** `name` is that of the file or its folder, without the ending. */
  parse(text: string, name: string): Parsed<Found>;
}

const FILE_BYTES = 64 * 1024;

export async function findFiles<Kind, Found>(
  options: FolderOptions<Kind, Found>,
): Promise<readonly FoundFile<Kind, Found>[]> {
  const { root, source, ending, fileName, room } = options;
  const path = pathIn(root, options.folder);
  const inFolder = await namesIn(root, path);
  if (inFolder === null) return [];
  const aboutFolder = (text: string): FoundFile<Kind, Found> => ({
    ...source,
    path,
    hash: null,
    linked: false,
    found: null,
    warnings: [{ text, line: null }],
  });
  if ("problem" in inFolder) return [aboutFolder(`it was left out: ${inFolder.problem}`)];
  const matching = inFolder.names.filter((name) => name.endsWith(ending) && name !== ending);
  const read = matching.slice(0, room.left);
  room.left -= read.length;
  const files: FoundFile<Kind, Found>[] = [];
  const leftOut = matching.length - read.length;
  if (inFolder.more) files.push(aboutFolder(`only the first ${inFolder.names.length} of its files were looked at`));
  else if (leftOut > 0) files.push(aboutFolder(`of its files ${leftOut} were left out: ${MAX_FILES} are read in all`));
  for (const name of read) {
    const file = await readFile(pathIn(path, fileName === undefined ? name : `${name}/${fileName}`), options);
    if (file !== null) files.push(file);
  }
  return files;
}

/** Null if there is no such file. */
async function readFile<Kind, Found>(
  path: string,
  { root, source, ending, fileName, judge, parse }: FolderOptions<Kind, Found>,
): Promise<FoundFile<Kind, Found> | null> {
  const read = await readText(root, path, FILE_BYTES, judge);
  if (read === null) return null;
  const text = "problem" in read ? null : read;
  const tooLong = { problem: `it is longer than ${FILE_BYTES} bytes`, line: null };
  const name = fileName === undefined ? basename(path, ending) : basename(dirname(path));
  const parsed = "problem" in read ? read : read.cut ? tooLong : parse(read.text, name);
  const file = {
    ...source,
    path,
    hash: text === null ? null : hash("sha256", text.text),
    linked: text?.linked ?? false,
  };
  if (!("problem" in parsed)) return { ...file, found: parsed.found, warnings: parsed.warnings };
  return { ...file, found: null, warnings: [{ text: `it was left out: ${parsed.problem}`, line: parsed.line }] };
}
