/**
 * The first run: an agent gives a part of its task to a child, waits for it, and answers. The model is scripted, so
 * this runs without a key. With a real one, leave `models` out: `model: "anthropic/claude-sonnet-5-5"`.
 */

import assert from "node:assert/strict";
import { createErrand } from "errand";
import { byTask, createScriptedModels, delegate, report, say } from "errand/testing";

const models = createScriptedModels({
  "scripted/model": byTask({
    "How long is my draft?": [delegate("Count the words."), say("Your draft has 812 words.")],
    "Count the words.": [report("812 words")],
  }),
});

const errand = await createErrand({ store: "memory", models: [models], model: "scripted/model" });
const { text, runs, tree } = await errand.run("How long is my draft?");
console.log(text);
for (const run of runs) console.log(`${run.name} ${run.status}, ${await errand.result(run.id)}`);

assert.equal(text, "Your draft has 812 words.");
assert.deepEqual(
  runs.map(({ status, delivery }) => [status, delivery]),
  [["ok", "placed"]],
);
// The journal proves every decision again, without a model.
assert.equal((await errand.replay(tree)).difference, null);
await errand.close();
