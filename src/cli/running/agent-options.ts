/** The options of every command that runs agents: models, tools, and permissions. */

import type { Tool } from "../../contracts/tool.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import { ErrandError } from "../../errors.ts";
import type { ErrandOptions } from "../../runtime/errand-options.ts";
import { workspaceTools } from "../../tools/index.ts";
import type { CommandCall } from "../command.ts";
import { noticeLines } from "../problem.ts";
import { databaseIs } from "../store/scope.ts";
import { didYouMean } from "../text/did-you-mean.ts";

type AgentOptions = Pick<
  ErrandOptions,
  | "models"
  | "runners"
  | "world"
  | "permissions"
  | "recover"
  | "renewDefinitions"
  | "limits"
  | "onModelCallLimit"
  | "onNotice"
  | "retentionDays"
  | "subagentEnabled"
> & { readonly tools: readonly Tool[] };

export function agentOptions({ options, scope, host, models, runners, settings }: CommandCall): AgentOptions {
  const { limits, retentionDays, permissions, subagentEnabled } = settings;
  const tools = workspaceTools({
    world: host.world,
    environment: process.env,
    onUnenclosed: (notice) => host.err(`${notice} errand doctor says more.\n`),
  });
  return {
    models,
    runners,
    world: host.world,
    tools,
    permissions: [...allowedCalls(options.allow, tools), ...permissions],
    limits,
    subagentEnabled,
    onModelCallLimit: host.keys !== null && options.json !== true ? "ask" : "end",
    ...(retentionDays === undefined ? {} : { retentionDays }),
    onNotice: (notice) => host.err(noticeLines(notice)),
    renewDefinitions: false,
    // In a database that workers share, a command runs the tree that it was asked for; the others are the workers'.
    recover: !databaseIs(scope),
  };
}

/** `write_file:docs/**,run_command:npm test`: tools, and where they may be used or with which first words. */
function allowedCalls(given: string | undefined, tools: readonly Tool[]): readonly PermissionRule[] {
  if (given === undefined) return [];
  return given.split(",").map((item) => {
    const [tool = "", ...rest] = item.trim().split(":");
    const pattern = rest.join(":").trim();
    if (!/^[A-Za-z0-9_-]+$/.test(tool) || (rest.length > 0 && pattern === "")) {
      throw new ErrandError("usage", `--allow takes tools, each perhaps with a pattern, not "${item}"`, {
        remedy: 'For example: --allow "write_file:docs/**,run_command:npm test"',
      });
    }
    const names = tools.map(({ name }) => name);
    if (!names.includes(tool)) {
      throw new ErrandError("usage", `--allow names a tool "${tool}", and there is none${didYouMean(tool, names)}`, {
        remedy: `The tools are ${names.join(", ")}.`,
      });
    }
    if (pattern === "") return { decision: "allow", tool };
    if (tool === "run_command") return { decision: "allow", tool, command: pattern.split(/\s+/) };
    return { decision: "allow", tool, path: pattern };
  });
}
