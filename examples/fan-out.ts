/**
 * Fan-out with a barrier: an agent starts three children in the background and stays free. When all three have ended,
 * it reads their reports together, in one message.
 */

import assert from "node:assert/strict";
import { createErrand } from "errand";
import { byTask, createScriptedModels, report, requestText, say, startInBackground } from "errand/testing";

const FILES = ["a.log", "b.log", "c.log"];

const models = createScriptedModels({
  "scripted/model": byTask({
    "Which log has errors?": [
      startInBackground(FILES.map((file) => `Read ${file}.`)),
      say("I let three children look."),
      say("Only b.log has errors."),
    ],
    "Read a.log.": [report("a.log is clean")],
    "Read b.log.": [report("b.log has 2 errors")],
    "Read c.log.": [report("c.log is clean")],
  }),
});

const errand = await createErrand({ store: "memory", models: [models], model: "scripted/model" });
const { messages, runs } = await errand.run("Which log has errors?");
for (const { text } of messages) console.log(text);

assert.deepEqual(
  messages.map(({ text }) => text),
  ["I let three children look.", "Only b.log has errors."],
);
assert.deepEqual(
  runs.map(({ status, delivery }) => `${status}, ${delivery}`),
  ["ok, placed", "ok, placed", "ok, placed"],
);
const told = requestText(models.requests.at(-1));
for (const words of ["a.log is clean", "b.log has 2 errors", "c.log is clean"])
  assert.equal(told.split(words).length - 1, 1, `${words} is told once`);
await errand.close();
