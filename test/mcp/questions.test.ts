/** A call of a child that needs permission: the client is told, and it or another process answers. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runErrand } from "../cli/support/errand-process.ts";
import { writing } from "./children.ts";
import { call, connect, openProject } from "./mcp-errand.ts";

interface Asked {
  readonly question_id: string;
  readonly tool: string;
}

it("tells a question as input_required; the client answers it, or errand answer in another process", async () => {
  const project = await openProject(writing);
  const server = await connect(project, { capabilities: { versionNegotiation: { mode: { pin: "2026-07-28" } } } });
  const file = join(project.folder, "note.txt");
  const ask = async (word: string): Promise<{ readonly run: string; readonly asked: Asked }> => {
    const { output, failed } = await call(server, "subagent", { task: `Count: ${word}` });
    expect(failed).toBe(false);
    expect(output).toMatchObject({ status: "input_required", questions: [{ tool: "write_file" }] });
    const [asked] = output["questions"] as readonly [Asked];
    return { run: output.run_id, asked };
  };

  const one = await ask("one");
  expect(existsSync(file)).toBe(false);
  const { question_id } = one.asked;
  const half = await call(server, "subagent_send", { run_id: one.run, question_id });
  expect(half).toMatchObject({ failed: true, output: { status: "refused" } });
  await call(server, "subagent_send", { run_id: one.run, question_id, allow: true });
  const done = await call(server, "subagent_wait", { run_id: one.run });
  expect(done.output).toMatchObject({ status: "completed" });
  expect(readFileSync(file, "utf8")).toBe("one");
  const late = await call(server, "subagent_send", { run_id: one.run, question_id, allow: false });
  expect(late).toMatchObject({ failed: true, output: { reason: "question-closed" } });

  const two = await ask("two");
  const waiting = call(server, "subagent_wait", { run_id: two.run });
  expect((await waiting).output.status).toBe("input_required");
  const how = { folder: project.folder, home: project.env["HOME"] ?? "", env: project.env };
  const answered = await runErrand(["answer", two.asked.question_id, "no", "use another file"], how);
  expect(answered).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await call(server, "subagent_wait", { run_id: two.run })).output, { timeout: 20_000 })
    .toMatchObject({ status: "completed", summary: expect.stringContaining("use another file") as string });
  expect(readFileSync(file, "utf8")).toBe("one");
});
