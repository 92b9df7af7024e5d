/**
 * Delegation inside a loop of your own, with JSON Schema tools as `@openai/agents` and others take them:
 * `tool({ name, description, parameters: inputSchema, strict: false, execute })`. The host stops while a run is under
 * way; a second host finds it by its key. The models are scripted, so it runs anywhere.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createErrand, type Errand, type HostRunOutput } from "errand";
import { callTool, createScriptedModels, hang, type ScriptedReply } from "errand/testing";

const folder = mkdtempSync(join(tmpdir(), "errand-example-"));

function openErrand(reply: ScriptedReply): Promise<Errand> {
  return createErrand({
    store: join(folder, "errand.db"),
    models: [createScriptedModels({ "scripted/worker": () => reply })],
    agents: { worker: { description: "Does one task.", prompt: "You do one task.", model: "scripted/worker" } },
  });
}

interface Call {
  readonly name: string;
  readonly arguments: string;
}

/** One turn of a host: its model has asked for a call, and reads the answer. */
async function answer(errand: Errand, call: Call): Promise<HostRunOutput> {
  const { tools } = errand.hostTools({ agents: ["worker"], background: true });
  const tool = tools.find(({ name }) => name === call.name);
  assert.ok(tool !== undefined, `the host's model has no tool ${call.name}`);
  const output = await tool.execute(JSON.parse(call.arguments), {
    onProgress: ({ text }) => console.log(`  … ${text}`),
  });
  // This text is what the host's model reads.
  const text = JSON.stringify(output);
  console.log(`${call.name} → ${text}`);
  return JSON.parse(text) as HostRunOutput;
}

const start = { name: "subagent_start", arguments: '{"task":"Count the words.","key":"words of the draft"}' };

const first = await openErrand(hang());
const started = await answer(first, start);
assert.equal(started.status, "working");
await first.close({ withinMs: 0 });

const second = await openErrand(callTool("send_agent_message", { text: "812 words.", final: true }));
const again = await answer(second, start);
assert.equal(again.run_id, started.run_id);
const wait = { name: "subagent_wait", arguments: JSON.stringify({ run_id: started.run_id }) };
const ended = await answer(second, wait);
assert.deepEqual([ended.status, ended.summary], ["completed", "812 words."]);
assert.equal((await second.listRuns()).length, 1);
await second.close();
rmSync(folder, { recursive: true });
