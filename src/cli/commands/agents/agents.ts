/**
 * `errand agents [NAME]`. With `--json` a line is `{ type, name, description, source, place, program, state, shadowedBy, model, tools, …, bytes }`;
 * `type` is `agent`, `skill`, `context` for AGENTS.md, or `file` for one that came to nothing. With a name it has its `prompt` too.
 */

import { ErrandError } from "../../../errors.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { folderDefinitions } from "../../definitions/folder-definitions.ts";
import { type Listed, listed, listedRecord } from "../../definitions/listed.ts";
import { listedLines, wholeLines } from "./listed-lines.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { agentOptions } from "../../work/agent-options.ts";
import { createColours } from "../../text/colours.ts";
import { didYouMean } from "../../text/did-you-mean.ts";

export const agentsCommand: CommandAction = async (call) => {
  const all = listed(await folderDefinitions(call, agentOptions(call).tools, ({ model }) => model), call.host);
  const [name] = call.args;
  return name === undefined ? list(all, call) : one(name, all, call);
};

function list(all: readonly Listed[], { options, host }: CommandCall): ExitCode {
  if (options.json === true) {
    for (const item of all) host.out(jsonLine(listedRecord(item, false)));
    return EXIT.done;
  }
  const used = all.filter(({ state }) => state === "used").toSorted(byName);
  const groups: readonly (readonly [string, readonly Listed[]])[] = [
    ["Agents", used.filter(({ type }) => type === "agent")],
    ["Skills", used.filter(({ type }) => type === "skill")],
    ["What agents that speak with you are told about the project", used.filter(({ type }) => type === "context")],
    ["Not used", all.filter(({ state }) => state !== "used")],
  ];
  const colours = createColours(host.colours.out);
  const blocks = groups
    .filter(([, items]) => items.length > 0)
    .map(([heading, items]) => [`${heading}:`, ...items.flatMap((item) => listedLines(item, colours))].join("\n"));
  host.out(`${blocks.join("\n\n")}\n`);
  return EXIT.done;
}

/** The one in use first, then those that it shadows and those that wait for trust. */
function one(name: string, all: readonly Listed[], { options, host }: CommandCall): ExitCode {
  const found = all.filter((item) => item.name === name).toSorted((a, b) => useOf(a) - useOf(b));
  if (found.length === 0) {
    const names = all.flatMap((item) => (item.name === null ? [] : [item.name]));
    throw new ErrandError("definition-unknown", `There is no agent or skill "${name}"${didYouMean(name, names)}`, {
      remedy: "errand agents lists them.",
    });
  }
  const colours = createColours(host.colours.out);
  const [first, ...rest] = found.map((item, index) =>
    index === 0 ? wholeLines(item, colours) : listedLines(item, colours),
  );
  if (options.json === true) for (const item of found) host.out(jsonLine(listedRecord(item, true)));
  else host.out(`${[first ?? [], ...rest].map((lines) => lines.join("\n")).join("\n\n")}\n`);
  return EXIT.done;
}

function useOf({ state }: Listed): number {
  return state === "used" ? 0 : 1;
}

function byName(a: Listed, b: Listed): number {
  const left = a.name ?? "";
  const right = b.name ?? "";
  return left < right ? -1 : left > right ? 1 : 0;
}
