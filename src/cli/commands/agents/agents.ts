/** `errand agents [NAME]`: the agents and skills that can be used here, or one of them with its prompt. */

import { ErrandError } from "../../../errors.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { folderDefinitions } from "../../definitions/folder-definitions.ts";
import { type Listed, listed, listedRecord } from "../../definitions/listed.ts";
import { listedLines, wholeLines } from "./listed-lines.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { agentOptions } from "../../running/agent-options.ts";
import { createColours } from "../../text/colours.ts";
import { didYouMean } from "../../text/did-you-mean.ts";

export const agentsCommand: CommandAction = async (call) => {
  const all = listed(await folderDefinitions(call, agentOptions(call).tools, ({ model }) => model), call.host);
  const [name] = call.args;
  return name === undefined ? list(all, call) : showNamed(name, all, call);
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

/** First the definition in use, then those that it shadows and those that need trust. */
function showNamed(name: string, all: readonly Listed[], { options, host }: CommandCall): ExitCode {
  const named = all.filter((item) => item.name === name);
  const found = [...named.filter(({ state }) => state === "used"), ...named.filter(({ state }) => state !== "used")];
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

function byName(a: Listed, b: Listed): number {
  const left = a.name ?? "";
  const right = b.name ?? "";
  return left < right ? -1 : left > right ? 1 : 0;
}
