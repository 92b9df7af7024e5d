/**
 * A question as the user can rely on it: first the whole call, then the change that it would make.
 *
 * Invariants:
 *  1. Tool, path or command, and folder come first and are never cut.
 *  2. Invisible characters are written out.
 *  3. `seen` is the mark of the file whose change is shown. If a change cannot be shown, it is a mark that no file has,
 *     so that allowing the call changes nothing.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { exactRule } from "../../core/permissions/grants.ts";
import type { FileFacts, PermissionRule } from "../../core/permissions/permissions.ts";
import { CHILD_QUESTION, MODEL_CALLS, questionWords } from "../../core/text/prompts/question-text.ts";
import { type ChangePreview, previewChange } from "../../tools/preview-change.ts";
import { countLabel } from "../../view/amounts.ts";
import type { Colours } from "../text/colours.ts";
import { commandLine, visibleText } from "../text/visible-text.ts";
import { type DiffLine, lineDiff } from "./line-diff.ts";

export interface QuestionView {
  /** The call; never cut. */
  readonly head: readonly string[];
  /** The change, or the arguments of an unknown tool. */
  readonly body: readonly DiffLine[];
  /** The mark that an answer sends along if it allows the call; undefined if the call changes no file. */
  readonly seen: string | undefined;
  /** The rule that "always" allows; null if no rule names exactly this call. */
  readonly rule: PermissionRule | null;
  /** True if the answer is words, and not yes or no. */
  readonly words?: true;
}

type Preview = ChangePreview | { readonly refused: string };

export interface Asked {
  /** The name of the run that asks; null for the agent that the user speaks with. */
  readonly who: string | null;
  readonly tool: string;
  readonly input: Json;
}

/** Lines of a change that are shown at first. */
const SHOWN = 40;
/** A mark that no file has. */
const NOT_SHOWN = "0".repeat(64);
const FIELD_WIDTH = 8;

/** `folder`: where the call would be made; null if that is on another machine. */
export async function viewQuestion({ who, tool, input }: Asked, folder: string | null): Promise<QuestionView> {
  if (tool === CHILD_QUESTION) {
    const head = [visibleText(questionWords(who, tool, input))];
    return { head, body: [], seen: undefined, rule: null, words: true };
  }
  if (tool === MODEL_CALLS) return { head: [questionWords(who, tool, input)], body: [], seen: undefined, rule: null };
  const args = jsonObjectIs(input) ? input : {};
  const path = typeof args["path"] === "string" ? args["path"] : null;
  const preview = folder === null ? null : await previewChange(tool, input, folder);
  const rule = exactRule({ name: tool, input, file: fileFacts(path ?? "", preview) });

  const asker = who === null ? "The agent" : `"${visibleText(who)}"`;
  const head = (fields: readonly string[]): string[] => [
    `${asker} asks to use ${visibleText(tool)}`,
    ...fields,
    ...(rule === null ? [] : [field("always", JSON.stringify(rule))]),
  ];
  if (preview !== null) return { head: head(fileLines(path ?? "", preview, folder)), rule, ...changeOf(preview) };

  const { argv, shell } = args;
  if (Array.isArray(argv) && argv.every((word) => typeof word === "string")) {
    const where = typeof args["folder"] === "string" ? args["folder"] : ".";
    const fields = [
      `  ${"command".padEnd(FIELD_WIDTH)} ${commandLine(argv)}`,
      ...(shell === true ? [field("shell", "the whole line is run by /bin/sh")] : []),
      field("folder", folder === null ? where : `${where} in ${folder}`),
    ];
    return { head: head(fields), body: [], seen: undefined, rule };
  }
  const fields = [
    ...(path === null ? [] : [field("path", path)]),
    ...(folder === null ? [] : [field("folder", folder)]),
  ];
  return { head: head(fields), body: argumentLines(input), seen: undefined, rule };
}

/** As the kernel knows them: a rule cannot name a file that is reached by a symlink, or that has several names. */
function fileFacts(path: string, preview: Preview | null): FileFacts {
  if (preview === null || "refused" in preview) return {};
  const plain = path.split("/").filter((name) => name !== "" && name !== ".");
  return {
    ...(plain.join("/") === preview.relative ? {} : { real: preview.relative }),
    ...(preview.linked ? { linked: true } : {}),
  };
}

function field(name: string, value: string): string {
  return `  ${name.padEnd(FIELD_WIDTH)} ${visibleText(value)}`;
}

function fileLines(path: string, preview: Preview, folder: string | null): string[] {
  const place = [field("path", path), field("folder", folder ?? "")];
  if ("refused" in preview) return [...place, field("fails", preview.refused)];
  const { relative, before, after } = preview;
  if (relative !== path) place.splice(1, 0, field("really", relative));
  const what = before === null ? "a new file" : `in the place of ${countLabel(before.length, "byte")}`;
  return [...place, field("writes", `${countLabel(after.length, "byte")}, ${what}`)];
}

function changeOf(preview: Preview): Pick<QuestionView, "body" | "seen"> {
  if ("refused" in preview) return { body: [], seen: NOT_SHOWN };
  const { before, after, seen } = preview;
  const old = before === null ? "" : textOf(before);
  if (old === null) {
    const remark: DiffLine = { kind: "remark", text: "(what is there now is not text, and is replaced as a whole)" };
    return { body: [remark, ...lineDiff("", after.toString("utf8"))], seen };
  }
  return { body: lineDiff(old, after.toString("utf8")), seen };
}

function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function argumentLines(input: Json): readonly DiffLine[] {
  return JSON.stringify(input, null, 2)
    .split("\n")
    .map((text) => ({ kind: "same", text }));
}

/** True if the change has more lines than are shown at first. */
export function viewIsLong({ body }: QuestionView): boolean {
  return body.length > SHOWN;
}

/** The lines of a question; with `all`, every line of its change. */
export function viewLines(view: QuestionView, colours: Colours, all = false): string[] {
  const body = all ? view.body : view.body.slice(0, SHOWN);
  const rest = view.body.length - body.length;
  const [first = "", ...more] = view.head;
  return [
    `${colours.yellow("?")} ${first}`,
    ...more,
    ...body.map((line) => bodyLine(line, colours)),
    ...(rest > 0 ? [colours.dim(`  … ${countLabel(rest, "more line")}`)] : []),
  ];
}

const MARKS: Readonly<Record<DiffLine["kind"], string>> = {
  same: " ",
  added: "+",
  removed: "-",
  place: "",
  remark: "",
};

function bodyLine({ kind, text }: DiffLine, colours: Colours): string {
  const shown = `  ${MARKS[kind]}${visibleText(text)}`;
  if (kind === "added") return colours.green(shown);
  if (kind === "removed") return colours.red(shown);
  return kind === "same" ? shown : colours.dim(shown);
}
