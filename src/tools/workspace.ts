/**
 * The border of an agent's folder: every path that a tool uses, and every file that it reads, is checked here.
 *
 * Invariants:
 *  1. A path is checked by its real path, after all symlinks, against the workspace's real path, by whole segments.
 *  2. Only regular files are opened, without waiting (a FIFO cannot block a tool) and without following a last symlink.
 *  3. The opened file is the checked one: after opening, the path must still lead, inside, to the same inode.
 *  4. If the call has rules, the opened file is the one that the kernel judged: it has the same real path, and is not a
 *     second name of another file. A denied file is opened by no path. (The kernel judges the path as text,
 *     core/permissions.)
 *  5. `.errand`, where Errand keeps its own records, is outside.
 *  6. Nothing throws: a refusal is a sentence for the model that says what to do.
 */

import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, open, readlink, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import type { CallRules } from "../contracts/tool.ts";
import type { FileFacts } from "../core/permissions/permissions.ts";

export interface Refusal {
  readonly refused: string;
}

/** The target of a path. */
export interface PathTarget {
  /** The real path. */
  readonly absolute: string;
  /** From the workspace, with `/`; `.` for the workspace itself. */
  readonly relative: string;
  readonly kind: "file" | "folder";
  /** True for a file that has more than one name. */
  readonly linked: boolean;
}

export interface OpenedFile {
  readonly handle: FileHandle;
  /** From the workspace, with `/`. */
  readonly relative: string;
  readonly size: number;
}

export interface Workspace {
  /** The workspace's real path. */
  readonly root: string;
  /** The target of the path, without the rules of the call. */
  find(path: string): Promise<PathTarget | Refusal>;
  /** The target of the path, if the rules of the call allow it. */
  locate(path: string): Promise<PathTarget | Refusal>;
  /** Opens a file that the call names. The caller closes the handle. */
  openFile(path: string): Promise<OpenedFile | Refusal>;
  /** Opens a file that a walk found, if it is visible. The caller closes the handle. */
  openFound(path: string, visibility: Visibility): Promise<OpenedFile | Refusal>;
  /** Why the rules of the call do not allow the target of its path; null if they do. */
  rulesRefuse(path: string, target: Pick<PathTarget, "relative" | "linked">): Refusal | null;
  /** Which files a walk may show, below a folder that the call names. */
  visibilityBelow(folder: string): Visibility;
}

export interface Visibility {
  /** `ask`: the rules ask the user about it. `linked`: the file has more than one name. */
  of(relativePath: string, linked: boolean): "visible" | "ask" | "hidden";
  /** The most steps for one character of a path. */
  readonly cost: number;
}

const PATH_LENGTH = 4096;
const RECORDS_FOLDER = ".errand";
/** Outputs of commands that were too long for the answer: the only records that may be read. */
export const OUTPUT_FOLDER = `${RECORDS_FOLDER}/output`;
/** The result of `errorCode` for an error that is not the operating system's. */
export const NO_CODE = "unknown error";

export async function openWorkspace(folder: string, rules?: CallRules): Promise<Workspace | Refusal> {
  let root: string;
  try {
    root = await realpath(folder);
  } catch (error) {
    const remedy = "Tell the user that the folder is gone or unreadable.";
    return { refused: `the workspace cannot be opened (${errorCode(error)}). ${remedy}` };
  }

  async function check(path: string): Promise<{ readonly target: PathTarget; readonly stats: Stats } | Refusal> {
    if (path === "") {
      const remedy = 'Give a path inside the workspace, such as "src", or "." for the workspace itself.';
      return { refused: `\`path\` is empty. ${remedy}` };
    }
    if (path.includes("\0")) return { refused: "`path` holds a NUL character. Write the path without it." };
    if (path.length > PATH_LENGTH)
      return { refused: `\`path\` is longer than ${PATH_LENGTH} characters. Give a shorter one.` };
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
    const inside = pathFrom(root, absolute);
    if (inside.split("/").includes(RECORDS_FOLDER) && !inside.startsWith(`${OUTPUT_FOLDER}/`)) {
      const reason = `is in ${RECORDS_FOLDER}, where Errand keeps its own records`;
      return { refused: `${quote(path)} ${reason}; it cannot be read. Look elsewhere.` };
    }
    if (!stats.isDirectory() && !stats.isFile())
      return { refused: `${quote(path)} is ${kindOf(stats)}, not a regular file. Only regular files can be read.` };
    const kind = stats.isDirectory() ? "folder" : "file";
    return { target: { absolute, relative: inside, kind, linked: kind === "file" && stats.nlink > 1 }, stats };
  }

  function rulesRefuse(path: string, target: Pick<PathTarget, "relative" | "linked">): Refusal | null {
    if (rules === undefined) return null;
    const real = normalized(target.relative);
    if (rules.judge.of(real, target.linked) === "deny") return notPermitted(path);
    const expected = rules.file.real ?? writtenPath(root, path);
    if (real === expected && target.linked === (rules.file.linked ?? false)) return null;
    return { refused: `${quote(path)} was replaced after the call was judged. Try again.` };
  }

  function visibilityBelow(folder: string): Visibility {
    if (rules === undefined) return { of: () => "visible", cost: 0 };
    const { judge } = rules;
    // The call runs, so a rule or the user allowed the folder that it names. That holds for everything below it, too.
    const allowedByUser = judge.of(normalized(folder), false) === "ask";
    return {
      of(path, linked) {
        const decision = judge.of(normalized(path), linked);
        if (decision === "deny") return "hidden";
        return decision === "ask" && !(allowedByUser && !linked) ? "ask" : "visible";
      },
      cost: judge.cost,
    };
  }

  async function openChecked(
    path: string,
    refuse: (target: Pick<PathTarget, "relative" | "linked">) => Refusal | null,
  ): Promise<OpenedFile | Refusal> {
    const checked = await check(path);
    if ("refused" in checked) return checked;
    const { absolute, relative: inside, kind } = checked.target;
    const refused = refuse(checked.target);
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
      const again = await check(path);
      const same = !("refused" in again) && again.stats.ino === opened.ino && again.stats.dev === opened.dev;
      const where = await openedPath(handle, absolute);
      const refusedNow = same ? refuse({ relative: again.target.relative, linked: opened.nlink > 1 }) : null;
      if (opened.isFile() && same && again.target.absolute === where && refusedNow === null)
        return { handle, relative: inside, size: opened.size };
      await handle.close();
      return refusedNow ?? { refused: `${quote(path)} was replaced while it was being opened. Try again.` };
    } catch (error) {
      await handle.close();
      return { refused: sentenceFor(error, path) };
    }
  }

  return {
    root,
    rulesRefuse,
    visibilityBelow,
    async find(path) {
      const checked = await check(path);
      return "refused" in checked ? checked : checked.target;
    },
    async locate(path) {
      const checked = await check(path);
      if ("refused" in checked) return checked;
      return rulesRefuse(path, checked.target) ?? checked.target;
    },
    openFile: (path) => openChecked(path, (target) => rulesRefuse(path, target)),
    openFound: (path, visibility) =>
      openChecked(path, (target) =>
        visibility.of(target.relative, target.linked) === "visible" ? null : notPermitted(path),
      ),
  };
}

/** The real path of an open file. On Linux the kernel knows it; elsewhere it is the path that was opened. */
async function openedPath(handle: FileHandle, opened: string): Promise<string> {
  return process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : opened;
}

/** Rules compare paths in one Unicode form, because the same characters can be written in several. */
function normalized(path: string): string {
  return path.normalize("NFC");
}

/** The path from the workspace, with `/`; `.` for the workspace itself. */
export function pathFrom(root: string, absolute: string): string {
  return relative(root, absolute).split(sep).join("/") || ".";
}

/** The path as the kernel read it: without following symlinks. */
function writtenPath(root: string, path: string): string {
  return normalized(pathFrom(root, resolve(root, path)));
}

/** The facts about a path's target that rules need; null if the target is the path itself. */
export function factsOf(
  { root }: Workspace,
  path: string,
  target: Pick<PathTarget, "relative" | "linked">,
): FileFacts | null {
  const real = normalized(target.relative);
  const moved = real !== writtenPath(root, path);
  if (!moved && !target.linked) return null;
  return { ...(moved ? { real } : {}), ...(target.linked ? { linked: true } : {}) };
}

/** The real target of a call's path, for tools that open existing files. */
export async function locatePath(path: string, folder: string): Promise<FileFacts | null> {
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace) return null;
  const target = await workspace.locate(path);
  return "refused" in target ? null : factsOf(workspace, path, target);
}

function notPermitted(path: string): Refusal {
  return { refused: `${quote(path)} is not permitted here. Go on without it.` };
}

/** True if `path` is `root` or below it, by whole segments: `/ws-other` is not inside `/ws`. */
export function pathIsInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Escapes control characters, so that a name cannot forge a line of a result. */
export function escapedPath(path: string): string {
  return path.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The code of a failed operation, such as ENOENT. No `instanceof`: errors of another realm count too. */
export function errorCode(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : NO_CODE;
}

function outside(path: string): Refusal {
  const remedy = 'Give a path inside it, such as "src/index.ts"; symlinks that lead out are not followed.';
  return { refused: `${quote(path)} leads out of the workspace. ${remedy}` };
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
  return `"${escapedPath(path.length > 200 ? `${path.slice(0, 200)}…` : path)}"`;
}
