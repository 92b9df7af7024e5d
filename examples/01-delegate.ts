/**
 * One agent delegates to two children and answers from their reports. The models are scripted, so it runs anywhere. To
 * use a real model, change only `models`.
 */

import assert from "node:assert/strict";
import { createErrand } from "../src/index.ts";
import {
  byContext,
  callTool,
  callTools,
  createMemoryChannel,
  createScriptedModels,
  say,
} from "../src/testing/index.ts";

const models = createScriptedModels({
  "scripted/editor": byContext([
    callTools([
      { name: "start_background_agent", input: { task: "Count the words of the draft.", label: "Count" } },
      { name: "start_background_agent", input: { task: "Find the draft's weakest sentence.", label: "Critique" } },
    ]),
    say("I asked two colleagues to look at it."),
    say("The draft has 812 words, and its third sentence should go."),
  ]),
  // `final` ends the run with the report, without another model call.
  "scripted/worker": (_request, { task }) => {
    const text = task.startsWith("Count") ? "812 words" : "The third sentence.";
    return callTool("send_agent_message", { text, final: true });
  },
});

const errand = await createErrand({
  store: "memory",
  models: [models],
  agents: {
    editor: { prompt: "You edit drafts.", model: "scripted/editor" },
    worker: { prompt: "You do one task well.", model: "scripted/worker" },
    researcher: { prompt: "You find things out.", model: "scripted/worker" },
    orchestrator: { prompt: "You coordinate.", model: "scripted/editor" },
  },
});

const channel = createMemoryChannel();
const editor = await errand.openAgent({ agent: "editor", channel });
const reply = await editor.postAndAwait("What do you think of my draft?");
assert.equal(reply.text, "I asked two colleagues to look at it.");

const messages = await channel.received(2);
for (const message of messages) console.log(`editor: ${message.text}`);
assert.equal(messages.at(-1)?.text, "The draft has 812 words, and its third sentence should go.");

for (const run of await errand.listRuns()) {
  console.log(`${run.name}: ${run.status}, "${await errand.result(run.id)}"`);
  assert.equal(run.delivery, "placed");
}
await errand.close();
