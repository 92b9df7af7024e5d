/**
 * OpenAI Agents SDK: the child is a tool of the parent (`asTool`). The program stores the serialised `RunState` of the
 * parent after each item of the stream. Restart: the run continues from the stored state, unless that has the answer.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, OpenAIProvider, Runner, RunState, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../../script.mjs";

export async function delegate({ url, folder, question, record, show, given }) {
  setTracingDisabled(true);
  const file = join(folder, "state.json");
  const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: url, useResponses: false });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const recordTool = tool({
    name: "record",
    description: "Records an item.",
    parameters: z.object({ key: z.string() }),
    execute: ({ key }) => record(key),
  });
  const childAgent = new Agent({ name: "child", instructions: CHILD_PROMPT, model: "child", tools: [recordTool] });
  const about = { toolName: "child", toolDescription: "Hands a task to a child.", runConfig: { modelProvider } };
  const parent = new Agent({
    name: "parent",
    instructions: PARENT_PROMPT,
    model: "parent",
    tools: [childAgent.asTool(about)],
  });
  given();
  const stored = existsSync(file) ? readFileSync(file, "utf8") : null;
  // A run that has ended cannot continue. Its state has the answer.
  const { type, output } = (stored && JSON.parse(stored).currentStep) ?? {};
  if (type === "next_step_final_output") return show(output);
  const begun = stored === null ? question : await RunState.fromString(parent, stored);
  const run = await runner.run(parent, begun, { stream: true });
  const keep = () => {
    writeFileSync(`${file}.new`, run.state.toString());
    renameSync(`${file}.new`, file);
  };
  for await (const event of run) if (event.type === "run_item_stream_event") keep();
  await run.completed;
  keep();
  show(run.finalOutput);
}
