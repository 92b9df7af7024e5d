/** A tool of your own: its arguments are checked and typed, its result is any JSON, and what it throws is told. */

import assert from "node:assert/strict";
import { createErrand, tool } from "errand";
import { byContext, callTool, createScriptedModels, requestText, say } from "errand/testing";
import { z } from "zod";

const DEGREES: Readonly<Record<string, number>> = { Rome: 31, Oslo: 12 };

const weather = tool({
  name: "weather",
  description: "The weather of a city today.",
  input: z.object({ city: z.string() }),
  safe: true,
  run({ city }) {
    const degrees = DEGREES[city];
    if (degrees === undefined) throw new Error(`No station is in ${city}.`);
    return { city, degrees };
  },
});

const models = createScriptedModels({
  "scripted/model": byContext([
    callTool("weather", { town: "Rome" }),
    callTool("weather", { city: "Atlantis" }),
    callTool("weather", { city: "Rome" }),
    say("No umbrella: 31 degrees."),
  ]),
});

const errand = await createErrand({ store: "memory", models: [models], model: "scripted/model", tools: [weather] });
const { text } = await errand.run("Do I need an umbrella in Rome?");
console.log(text);

assert.equal(text, "No umbrella: 31 degrees.");
const read = requestText(models.requests.at(-1));
assert.match(read, /`city`/);
assert.match(read, /No station is in Atlantis\./);
assert.match(read, /\{"city":"Rome","degrees":31\}/);
await errand.close();
