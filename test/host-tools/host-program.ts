/** A host that starts two runs under keys, prints their handles once it has them, and works until it is killed. */

import { writeSync } from "node:fs";
import { createErrand } from "../../src/index.ts";
import { createScriptedModels, hang } from "../../src/testing/index.ts";

const [, , store = ""] = process.argv;
const errand = await createErrand({
  store,
  models: [createScriptedModels({ "scripted/child": () => hang() })],
  tools: [],
  agents: { worker: { prompt: "You are a child.", model: "scripted/child" } },
});
const tools = errand.hostTools({ agents: ["worker"], background: true });
const handles: unknown[] = [];
for (const key of ["one", "two"]) {
  const { output } = await tools.call("subagent_start", { task: `Job ${key}.`, key });
  handles.push("run_id" in output ? output.run_id : output);
}
writeSync(1, `${JSON.stringify(handles)}\n`);
