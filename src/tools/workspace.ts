/**
 * Owns the border of an agent's folder: every path a file tool touches passes here, and so does every file it opens.
 *
 * Invariants:
 *  1. A path is judged by its real path, after all symlinks, against the workspace's real path, by whole segments.
 *  2. Only regular files are opened, without waiting (a FIFO cannot hang a tool) and without following a last symlink.
 *  3. What was opened is what was judged: after opening, the path must still lead, inside, to the same inode.
 *  4. Where the call has rules, what was opened is what the kernel judged: the same real path, and not a second name of another file.
 *     A denied file is not opened by any path. (The kernel judges the path as text, core/permissions.)
 *  5. `.errand`, where Errand keeps its own records, is outside.
 *  6. Nothing throws: a refusal is a sentence for the model that says what to do.
 */

import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, open, readlink, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";

import type { CallRules } from "../contracts/tool.ts";
import type { Json } from "../core/values/json.ts";
import type { FileFacts } from "../core/permissions/permissions.ts";

export interface Refusal {
  readonly refused: string;
}

export interface Place {
  /** The real path. */
  readonly absolute: string;
  /** The path as tools show it: from the workspace, with `/`; `.` for the workspace itself. */
  readonly shown: string;
  readonly kind: "file" | "folder";
  /** True for a file that has more than one name. */
  readonly linked: boolean;
}

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly shown: string;
  readonly size: number;
}

export interface Workspace {
  /** The workspace's real path. */
  readonly root: string;
  /** Where the path leads, whatever the rules of the call say. */
  find(path: string): Promise<Place | Refusal>;
  /** Where the path leads, if the rules of the call allow it. */
  locate(path: string): Promise<Place | Refusal>;
  /** A file that the call names. The caller closes the handle. */
  openFile(path: string): Promise<OpenedFile | Refusal>;
  /** A file that a walk found, if it may be seen. The caller closes the handle. */
  openFound(path: string, sight: Sight): Promise<OpenedFile | Refusal>;
  /** Why the rules of the call do not allow what its path really leads to; null if they do. */
  rulesRefuse(path: string, shown: string, linked: boolean): Refusal | null;
  /** What a walk may see beneath a folder that the call names. */
  sightFrom(shown: string): Sight;
}

/** What of the files that a walk finds may be seen: `ask` for what the user would have to be asked about. */
export interface Sight {
  of(shown: string, linked: boolean): "seen" | "ask" | "hidden";
  /** Steps for a character of a path, at most. */
  readonly cost: number;
}

const PATH_LIMIT = 4096;
const RECORDS_FOLDER = ".errand";
/** Outputs of commands that were too long to be shown: the one place among the records that may be read. */
export const OUTPUT_FOLDER = `${RECORDS_FOLDER}/output`;
/** What `errorCode` says of an error that is not the operating system's. */
export const NO_CODE = "unknown error";

export async function openWorkspace(folder: string, rules?: CallRules): Promise<Workspace | Refusal> {
  let root: string;
  try {
    root = await realpath(folder);
  } catch (error) {
    return {
      refused: `the workspace cannot be opened (${errorCode(error)}). Tell the user that the folder is gone or unreadable.`,
    };
  }

  async function judge(path: string): Promise<{ readonly place: Place; readonly stats: Stats } | Refusal> {
    if (path.length === 0)
      return {
        refused: '`path` is empty. Give a path inside the workspace, such as "src", or "." for the workspace itself.',
      };
    if (path.includes("\0")) return { refused: "`path` holds a NUL character. Write the path without it." };
    if (path.length > PATH_LIMIT)
      return { refused: `\`path\` is longer than ${PATH_LIMIT} characters. Give a shorter one.` };
    const wanted = resolve(root, path);
    if (!pathIsInside(root, wanted)) return outside(path);
    let absolute: string;
    let stats: Stats;
    try {
      absolute = await realpath(wanted);
      if (!pathIsInside(root, absolute)) return outside(path);
      stats = await lstat(absolute);
    } catch (error) {
      return { refused: sentenceFor(error, path) };
    }
    const shown = relative(root, absolute).split(sep).join("/") || ".";
    if (shown.split("/").includes(RECORDS_FOLDER) && !shown.startsWith(`${OUTPUT_FOLDER}/`)) {
      return {
        refused: `${quote(path)} is in ${RECORDS_FOLDER}, where Errand keeps its own records; it cannot be read. Look elsewhere.`,
      };
    }
    if (stats.isDirectory()) return { place: { absolute, shown, kind: "folder", linked: false }, stats };
    if (stats.isFile()) return { place: { absolute, shown, kind: "file", linked: stats.nlink > 1 }, stats };
    return { refused: `${quote(path)} is ${kindOf(stats)}, not a regular file. Only regular files can be read.` };
  }

  function rulesRefuse(path: string, shown: string, linked: boolean): Refusal | null {
    if (rules === undefined) return null;
    if (rules.judge.of(judgedForm(shown), linked) === "deny") return notPermitted(path);
    const expected = rules.file.real ?? writtenPath(root, path);
    if (judgedForm(shown) === expected && linked === (rules.file.linked ?? false)) return null;
    return { refused: `${quote(path)} was replaced after the call was judged. Try again.` };
  }

  function sightFrom(start: string): Sight {
    if (rules === undefined) return { of: () => "seen", cost: 0 };
    const { judge: judgeFile } = rules;
    // The call is under way, so what it names was allowed, by a rule or by the user: that goes for what is beneath, too.
    const asked = judgeFile.of(judgedForm(start), false) === "ask";
    return {
      of(shown, linked) {
        const decided = judgeFile.of(judgedForm(shown), linked);
        return decided === "deny" ? "hidden" : decided === "ask" && !(asked && !linked) ? "ask" : "seen";
      },
      cost: judgeFile.cost,
    };
  }

  async function openJudged(
    path: string,
    refusalOf: (shown: string, linked: boolean) => Refusal | null,
  ): Promise<OpenedFile | Refusal> {
    const judged = await judge(path);
    if ("refused" in judged) return judged;
    const { absolute, shown, kind, linked } = judged.place;
    const refused = refusalOf(shown, linked);
    if (refused !== null) return refused;
    if (kind === "folder") return { refused: `${quote(path)} is a folder. Use list_files to see what is in it.` };
    let handle: FileHandle;
    try {
      handle = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      return { refused: sentenceFor(error, path) };
    }
    try {
      const opened = await handle.stat();
      const again = await judge(path);
      const same = !("refused" in again) && again.stats.ino === opened.ino && again.stats.dev === opened.dev;
      const where = await openedPath(handle, absolute);
      const late = same ? refusalOf(again.place.shown, opened.nlink > 1) : null;
      if (opened.isFile() && same && again.place.absolute === where && late === null)
        return { handle, shown, size: opened.size };
      await handle.close();
      return late ?? { refused: `${quote(path)} was replaced while it was being opened. Try again.` };
    } catch (error) {
      await handle.close();
      return { refused: sentenceFor(error, path) };
    }
  }

  return {
    root,
    rulesRefuse,
    sightFrom,
    async find(path) {
      const judged = await judge(path);
      return "refused" in judged ? judged : judged.place;
    },
    async locate(path) {
      const judged = await judge(path);
      if ("refused" in judged) return judged;
      return rulesRefuse(path, judged.place.shown, judged.place.linked) ?? judged.place;
    },
    openFile: (path) => openJudged(path, (shown, linked) => rulesRefuse(path, shown, linked)),
    openFound: (path, sight) =>
      openJudged(path, (shown, linked) => (sight.of(shown, linked) === "seen" ? null : notPermitted(path))),
  };
}

/** Where an open file really is: on Linux the kernel knows, elsewhere it is where it was opened. */
async function openedPath(handle: FileHandle, opened: string): Promise<string> {
  return process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : opened;
}

/** A path as rules judge it: one of several forms in which Unicode writes the same characters. */
function judgedForm(path: string): string {
  return path.normalize("NFC");
}

/** The path as the kernel read it, had no symlink been on its way. */
function writtenPath(root: string, path: string): string {
  return judgedForm(relative(root, resolve(root, path)).split(sep).join("/") || ".");
}

/** What rules must know of the place that a path leads to; null where it is as written. */
export function factsOf(
  { root }: Workspace,
  path: string,
  { shown, linked }: Pick<Place, "shown" | "linked">,
): FileFacts | null {
  const real = judgedForm(shown);
  const moved = real !== writtenPath(root, path);
  if (!moved && !linked) return null;
  return { ...(moved ? { real } : {}), ...(linked ? { linked: true } : {}) };
}

/** Where the path of a call leads, for the tools that open what is there. */
export async function locatePath(path: Json | undefined, workspace: string): Promise<FileFacts | null> {
  const found = await openWorkspace(workspace);
  const given = typeof path === "string" ? path : ".";
  const place = "refused" in found ? found : await found.locate(given);
  return "refused" in found || "refused" in place ? null : factsOf(found, given, place);
}

function notPermitted(path: string): Refusal {
  return { refused: `${quote(path)} is not permitted here. Go on without it.` };
}

/** True if `path` is `root` or beneath it, by whole segments: `/ws-other` is not inside `/ws`. */
export function pathIsInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A path as it can stand in a line of a result: a control character in a name cannot forge another line. */
export function pathShown(path: string): string {
  return path.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The code of a failed operation, such as ENOENT. Errors of another realm count too, so `instanceof` would be wrong. */
export function errorCode(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : NO_CODE;
}

function outside(path: string): Refusal {
  return {
    refused: `${quote(path)} leads out of the workspace. Give a path inside it, such as "src/index.ts"; symlinks that lead out are not followed.`,
  };
}

function sentenceFor(error: unknown, path: string): string {
  const code = errorCode(error);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no ${quote(path)} in the workspace. Use list_files to see what there is.`;
    case "EACCES":
    case "EPERM":
      return `${quote(path)} may not be read (${code}). Go on without it.`;
    case "ELOOP":
      return `${quote(path)} is a symlink that leads nowhere (${code}). Name the file itself.`;
    default:
      return `${quote(path)} cannot be opened (${code}). Go on without it.`;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return "something else";
}

function quote(path: string): string {
  return `"${pathShown(path.length > 200 ? `${path.slice(0, 200)}…` : path)}"`;
}
