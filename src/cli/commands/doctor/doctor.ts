/**
 * `errand doctor`: checks everything that Errand needs, and says how to repair problems. With `--json` a line for each
 * check, `{ type: "check", name, level, text, remedy }`, and last `{ type: "doctor", ok, warning, broken }` with their
 * numbers.
 */

import type { CommandAction } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { checkCommands, checkDisk, checkNode, checkSqlite, checkTerminal } from "../doctor/check-machine.ts";
import { checkChoice, checkModels } from "../doctor/check-models.ts";
import { checkStores } from "../doctor/check-store.ts";
import type { Finding, Level } from "../doctor/finding.ts";
import { EXIT } from "../../exit-code.ts";
import { requireFile } from "../../store/open-view.ts";
import { databaseIs, projectFile, type StoreScope } from "../../store/scope.ts";
import { countLabel } from "../../../view/amounts.ts";
import { createColours, type Colours } from "../../text/colours.ts";
import { padWidth } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";

const LEVEL_WIDTH = 9;
const NAME_WIDTH = 19;
/** In a narrower window columns would only be torn apart. */
const ROOM_FOR_COLUMNS = 72;

export const doctorCommand: CommandAction = async (call) => {
  const { options, scope, host, settings } = call;
  if (scope.kind === "named") requireFile(scope.store);
  const { env, world } = host;
  const counts = { ok: 0, warning: 0, broken: 0 };
  const colours = createColours(host.colours.out);
  const narrow = host.screen !== null && host.screen.size().columns < ROOM_FOR_COLUMNS;
  const checks: Iterable<() => Finding | Promise<Finding | Finding[]>> = [
    checkNode,
    () => checkSqlite(process.versions.sqlite ?? "0"),
    // A database has a disk of its own, which the server looks after.
    ...(databaseIs(scope) ? [] : [() => checkDisk(diskPath(scope), world)]),
    () => checkStores(scope, host),
    () => checkModels({ env, world, baseUrl: options.baseUrl ?? settings.baseUrl ?? undefined }),
    () => checkChoice(call),
    () => checkCommands(env),
    () => checkTerminal(host),
  ];
  for (const check of checks) {
    for (const finding of [await check()].flat()) {
      counts[finding.level] += 1;
      if (options.json === true) host.out(jsonLine({ type: "check", ...finding }));
      else host.out(`${findingLines(finding, colours, narrow).join("\n")}\n`);
    }
  }
  if (options.json === true) host.out(jsonLine({ type: "doctor", ...counts }));
  else host.err(`${verdict(counts)}\n`);
  return counts.broken === 0 ? EXIT.done : EXIT.failed;
};

function diskPath(scope: StoreScope): string {
  return scope.kind === "named" ? scope.store : projectFile(scope.folder, 1);
}

function findingLines({ name, level, text, remedy }: Finding, colours: Colours, narrow: boolean): string[] {
  const tint = { ok: colours.green, warning: colours.yellow, broken: colours.red }[level];
  const head = narrow ? `${tint(level)} ${name}: ` : tint(padWidth(level, LEVEL_WIDTH)) + padWidth(name, NAME_WIDTH);
  const indent = " ".repeat(narrow ? 2 : LEVEL_WIDTH + NAME_WIDTH);
  return [`${head}${terminalLine(text)}`, ...(remedy === null ? [] : [`${indent}${terminalLine(remedy)}`])];
}

function verdict({ warning, broken }: Readonly<Record<Level, number>>): string {
  if (broken > 0) return `${countLabel(broken, "thing")} broken`;
  return warning > 0 ? `nothing is broken; ${countLabel(warning, "warning")}` : "everything is well";
}
