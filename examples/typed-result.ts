/**
 * A typed result: with `output`, the data of the report are checked by the schema and have its type. The model gets the
 * fault and corrects it.
 */

import assert from "node:assert/strict";
import { createErrand } from "errand";
import { byContext, createScriptedModels, report } from "errand/testing";
import { z } from "zod";

const models = createScriptedModels({
  "scripted/model": byContext([
    report("The license is MIT.", { data: { licence: "MIT" } }),
    report("The license is MIT.", { data: { license: "MIT", files: ["package.json"] } }),
  ]),
});

const errand = await createErrand({ store: "memory", models: [models], model: "scripted/model" });
const { data, text } = await errand.run("Read package.json and name its license.", {
  output: z.object({ license: z.string(), files: z.array(z.string()) }),
});
console.log(`${data.license}, found in ${data.files.join(", ")}: ${text}`);

assert.deepEqual(data, { license: "MIT", files: ["package.json"] });
assert.equal(text, "The license is MIT.");
assert.equal(models.requests.length, 2);
await errand.close();
