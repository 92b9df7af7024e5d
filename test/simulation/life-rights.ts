/** The tools and rights of one process of a simulation. */

import type { Runner, Tool } from "../../src/index.ts";
import type { ProcessRights } from "../../src/core/permissions/process-rights.ts";
import { judge } from "./invariants/question-facts.ts";
import { Violation } from "./invariants/violation.ts";
import type { LifeRights } from "./plan.ts";
import type { Watch } from "./watch.ts";

/** The process's tools. A tool that it denies reports a violation if it runs (I18). */
export function toolsOf(given: LifeRights | undefined, tools: readonly Tool[], watch: Watch): Tool[] {
  const denied = ({ name }: Tool): boolean =>
    given?.permissions !== undefined && judge([given.permissions], name) === "deny";
  return tools
    .filter(({ name }) => name !== "strike" || given?.strikes !== false)
    .map((tool) => (denied(tool) ? neverRun(tool, watch) : tool));
}

function neverRun(tool: Tool, watch: Watch): Tool {
  return {
    ...tool,
    run() {
      watch.check(() => {
        throw new Violation("I18", `the process runs ${tool.name}, which it denies`);
      });
      return Promise.resolve({ text: "", failed: true });
    },
  };
}

export function rightsOf(
  given: LifeRights | undefined,
  tools: readonly Tool[],
  runners: readonly Runner[],
): ProcessRights {
  const permissions = given?.permissions;
  return {
    tools: tools.map((tool) => tool.name),
    ...(runners.length === 0 ? {} : { runners: runners.map(({ name }) => name) }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(given?.asks === true ? { asks: true } : {}),
  };
}
