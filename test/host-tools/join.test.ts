/** Host tools of several stores as one, when one of the stores fails. */

import { expect, test } from "vitest";
import { joinHostTools } from "../../src/host-tools/join-host-tools.ts";
import { hang } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";

async function openTools() {
  const { errand } = await openTestErrand({ parent: () => hang(), child: () => hang() });
  return { errand, tools: errand.hostTools({ agents: ["worker"], background: true }) };
}

test.each([
  ["subagent_start", { task: "Job.", key: "k" }],
  ["subagent_wait", { run_id: "none" }],
  ["subagent_list", {}],
])("%s is refused, and nothing is started", async (name, input) => {
  const own = await openTools();
  const other = await openTools();
  await other.errand.close({ withinMs: 0 });
  const joined = joinHostTools(
    own.tools,
    async () => [other.tools],
    (work) => work(),
  );
  const { failed, output } = await joined.call(name, input);
  expect({ failed, output }).toMatchObject({ failed: true, output: { status: "refused", reason: expect.any(String) } });
  expect(await own.errand.listRuns()).toEqual([]);
});
