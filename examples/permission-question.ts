/**
 * A question to a person: with `permissions`, calls that no rule allows wait for an answer. It may come from another
 * process, or after a restart.
 */

import assert from "node:assert/strict";
import { createErrand, tool } from "errand";
import { byContext, callTool, createScriptedModels, requestText, say } from "errand/testing";
import { z } from "zod";

const published: string[] = [];
const publish = tool({
  name: "publish",
  description: "Publishes a post.",
  input: z.object({ title: z.string() }),
  run({ title }) {
    published.push(title);
    return "published";
  },
});

const models = createScriptedModels({
  "scripted/model": byContext([
    callTool("publish", { title: "Everyone is fired" }),
    callTool("publish", { title: "We are hiring" }),
    say("I published one of the two."),
  ]),
});

const errand = await createErrand({
  store: "memory",
  models: [models],
  model: "scripted/model",
  tools: [publish],
  permissions: [],
});
const { text } = await errand.run("Publish the news.", {
  onEvent(event) {
    if (event.type !== "question-asked") return;
    const allow = JSON.stringify(event.input).includes("hiring");
    console.log(`${event.tool} ${JSON.stringify(event.input)}? ${allow ? "yes" : "no"}`);
    void errand.answer(event.id, allow ? { allow } : { allow, note: "That is not true." });
  },
});
console.log(text);

assert.deepEqual(published, ["We are hiring"]);
assert.match(requestText(models.requests[1]), /That is not true\./);
assert.deepEqual(await errand.questions(), []);
await errand.close();
