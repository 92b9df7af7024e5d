/** Agents and skills as lines for people. */

import { countLabel } from "../../../view/amounts.ts";
import type { Colours } from "../../text/colours.ts";
import { terminalLine, terminalText } from "../../text/terminal-text.ts";
import type { Listed } from "../../definitions/listed.ts";

const INDENT = "    ";

/** A name with where it comes from, and a few lines below it. */
export function listedLines(item: Listed, colours: Colours): string[] {
  const name = item.name ?? item.shown;
  const from = item.name === null ? "" : `  ${colours.dim(terminalLine(item.shown))}`;
  return [
    `${colours.bold(terminalLine(name))}${from}${stateLabel(item)}`,
    ...[terminalLine(item.description), factsLine(item), ...warningLines(item)]
      .filter((line) => line !== "")
      .map((line) => `${INDENT}${line}`),
  ];
}

/** The same with its limits and its prompt. */
export function wholeLines(item: Listed, colours: Colours): string[] {
  const limits = [
    item.maxIterations === null ? "" : countLabel(item.maxIterations, "iteration"),
    item.timeoutSeconds === null ? "" : countLabel(item.timeoutSeconds, "second"),
    item.reporting === null ? "" : `reports by ${item.reporting}`,
    item.say ? "only <say> blocks reach the user" : "",
  ].filter((part) => part !== "");
  return [
    ...listedLines(item, colours),
    ...(limits.length === 0 ? [] : [`${INDENT}${limits.join(", ")}`]),
    "",
    terminalText(item.prompt),
  ];
}

function stateLabel({ state }: Listed): string {
  if (state === "used") return "";
  return state === "untrusted" ? "  (needs trust)" : "  (not used)";
}

function factsLine({ type, model, tools, skills, isolated }: Listed): string {
  if (type === "file" || type === "context") return "";
  const held = tools === null ? "all tools" : tools.length === 0 ? "no tools" : `tools ${tools.join(", ")}`;
  const use = isolated ? "runs as a child" : "is read by the agent that uses it";
  const parts = [
    type === "skill" ? use : `model ${model ?? "default"}`,
    type === "skill" && tools === null ? "" : held,
    skills.length === 0 ? "" : `skills ${skills.join(", ")}`,
  ];
  return terminalLine(parts.filter((part) => part !== "").join("; "));
}

function warningLines({ warnings, state }: Listed): string[] {
  const lines = warnings.map(({ text, line }) => terminalLine(line === null ? text : `line ${line}: ${text}`));
  return state === "untrusted" ? [...lines, "look into the file; if you trust it: errand trust"] : lines;
}
