/** The one argument of a tool call that a line has room for. */

import { codePointsPrefix } from "../core/text/index.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import { replyPartsOf } from "../core/values/message.ts";

/** Arguments that say best what a call works on, the best first. */
const DESCRIPTIVE = ["path", "file", "query", "pattern", "command", "url", "glob", "label", "task", "text"] as const;
/** Longest name of a run, in code points (rule D4). */
const NAME_LENGTH = 60;

/** The arguments of a call, from the texts of the step that recorded the reply. */
export function callArguments(texts: readonly Json[], call: string): { readonly [name: string]: Json } {
  for (const part of replyPartsOf(texts[0])) {
    if (part.type === "tool-call" && part.id === call) return jsonObjectIs(part.input) ? part.input : {};
  }
  return {};
}

/** What the call works on; empty if no argument says it. */
export function callAbout(args: { readonly [name: string]: Json }): string {
  for (const name of DESCRIPTIVE) {
    const value = args[name];
    if (typeof value === "string" && value !== "") return value;
  }
  const { argv } = args;
  return Array.isArray(argv) ? argv.filter((word) => typeof word === "string").join(" ") : "";
}

/** The display name of a run that was created with these arguments: its label, else the beginning of its task. */
export function runName(args: { readonly [name: string]: Json }): string {
  const { label, task } = args;
  if (typeof label === "string" && label.trim() !== "") return label;
  return typeof task === "string" ? codePointsPrefix(task, NAME_LENGTH) : "";
}
