/**
 * A question as a person can rely on it: what would be done, first and whole, then the change that it would make.
 *
 * Invariants:
 *  1. Tool, path or words of the command, and folder come first and are never cut.
 *  2. Characters that cannot be seen are written so that they can.
 *  3. `seen` belongs to the change that is shown. Of a file change that cannot be shown it is a mark that no file has, so that allowing it changes nothing.
 */

import type { Json } from "../../core/values/json.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import { exactRule } from "../../core/permissions/grants.ts";
import type { FileFacts, PermissionRule } from "../../core/permissions/permissions.ts";
import { MODEL_CALLS, questionWords } from "../../core/text/prompts/question-text.ts";
import { type ChangePreview, previewChange } from "../../tools/preview-change.ts";
import { countLabel } from "../../view/amounts.ts";
import type { Colours } from "../text/colours.ts";
import { commandLine, visibleText } from "../text/visible-text.ts";
import { type DiffLine, lineDiff } from "./line-diff.ts";

export interface QuestionView {
  /** Never cut. */
  readonly head: readonly string[];
  /** The change, or the arguments of a tool that is not known here. */
  readonly body: readonly DiffLine[];
  /** What an answer that allows it sends back; undefined where there is no file. */
  readonly seen: string | undefined;
  /** What is allowed with "always"; null where no rule names exactly this call. */
  readonly rule: PermissionRule | null;
}

type Preview = ChangePreview | { readonly refused: string };

export interface Asked {
  /** The name of the run that asks; null for the agent that the user speaks with. */
  readonly who: string | null;
  readonly tool: string;
  readonly input: Json;
}

/** Lines of a change that are shown before one asks for all of them. */
const SHOWN = 40;
/** A mark that no file has. */
const NOT_SHOWN = "0".repeat(64);

/** `folder`: where the call would be made; null where that is another machine's. */
export async function viewQuestion(asked: Asked, folder: string | null): Promise<QuestionView> {
  const { who, tool, input } = asked;
  if (tool === MODEL_CALLS) return { head: [questionWords(who, tool, input)], body: [], seen: undefined, rule: null };
  const first = `${who === null ? "The agent" : `"${visibleText(who)}"`} asks to use ${visibleText(tool)}`;
  const args = jsonObjectIs(input) ? input : {};
  const preview = folder === null ? null : await previewChange(tool, input, folder);
  const rule = exactRule({ name: tool, input, file: fileFacts(args, preview) });
  const allows = rule === null ? [] : [field("always", JSON.stringify(rule))];
  if (preview !== null)
    return { head: [first, ...fileLines(args, preview, folder), ...allows], rule, ...changeOf(preview) };
  const { argv } = args;
  if (Array.isArray(argv) && argv.every((word) => typeof word === "string")) {
    const shell = args["shell"] === true ? [field("shell", "the whole line is run by /bin/sh")] : [];
    const where = typeof args["folder"] === "string" ? args["folder"] : ".";
    const place = field("folder", folder === null ? where : `${where} in ${folder}`);
    return {
      head: [first, field("command", commandLine(argv)), ...shell, place, ...allows],
      body: [],
      seen: undefined,
      rule,
    };
  }
  const path = typeof args["path"] === "string" ? [field("path", args["path"])] : [];
  const place = folder === null ? [] : [field("folder", folder)];
  return { head: [first, ...path, ...place, ...allows], body: argumentLines(input), seen: undefined, rule };
}

/** As the kernel knows it: a rule cannot name a file that is reached by a symlink, or has several names. */
function fileFacts(args: { readonly [name: string]: Json }, preview: Preview | null): FileFacts {
  const path = typeof args["path"] === "string" ? args["path"] : "";
  if (preview === null || "refused" in preview) return {};
  const written = path.split("/").filter((name) => name !== "" && name !== ".");
  return {
    ...(written.join("/") === preview.relative ? {} : { real: preview.relative }),
    ...(preview.linked ? { linked: true } : {}),
  };
}

function field(name: string, value: string): string {
  return `  ${name.padEnd(8)} ${name === "command" ? value : visibleText(value)}`;
}

function fileLines(args: { readonly [name: string]: Json }, preview: Preview, folder: string | null): string[] {
  const path = typeof args["path"] === "string" ? args["path"] : "";
  const place = field("folder", folder ?? "");
  if ("refused" in preview) return [field("path", path), place, field("fails", preview.refused)];
  const real = preview.relative === path ? [] : [field("really", preview.relative)];
  const what = preview.before === null ? "a new file" : `in the place of ${countLabel(preview.before.length, "byte")}`;
  return [field("path", path), ...real, place, field("writes", `${countLabel(preview.after.length, "byte")}, ${what}`)];
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

/** True if more is to be seen than is shown at first. */
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
