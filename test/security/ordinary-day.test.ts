/** The rules protect without disturbing: how many questions a usual session asks. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PermissionRule, workspaceTools } from "../../src/index.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder } from "../support/test-errand.ts";

/** Looks around, edits a source file, writes a page and runs the tests. Returns how many questions were asked. */
async function questionsOfASession(permissions: readonly PermissionRule[]): Promise<number> {
  const workspace = temporaryFolder();
  mkdirSync(join(workspace, "src"));
  writeFileSync(join(workspace, "src/a.ts"), "let a = 1;\n");
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTool("list_files", {}),
        callTool("search_text", { query: "let a" }),
        callTool("read_file", { path: "src/a.ts" }),
        callTool("edit_file", { path: "src/a.ts", old_text: "let", new_text: "const" }),
        callTool("write_file", { path: "docs/a.md", content: "# A\n" }),
        callTool("run_command", { argv: ["true"] }),
        say("done"),
      ]),
    },
    { workspace, permissions, tools: workspaceTools({ world: createSystemWorld(), environment: process.env }) },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  let asked = 0;
  await eventsUntil(errand, agent.id, (event) => {
    for (const fact of event.facts) {
      if (fact.type !== "question-asked") continue;
      asked += 1;
      void errand.answer(`${agent.id}/${event.seq}.${fact.n}`, { allow: true });
    }
    return event.facts.some((fact) => fact.type === "turn-ended");
  });
  return asked;
}

test("without rules a session asks once for each change and each command, and never for reads", async () => {
  expect(await questionsOfASession([])).toBe(3);
});

test("with rules that a user would write it asks nothing", async () => {
  const rules: readonly PermissionRule[] = [
    { decision: "allow", tool: "edit_file", path: "src/**" },
    { decision: "allow", tool: "write_file", path: "docs/**" },
    { decision: "allow", tool: "run_command", command: ["true"] },
  ];
  expect(await questionsOfASession(rules)).toBe(0);
});
