/** Errand, as built. Children report by the protocol that is measured; background children are announced. */
import { createErrand, createModelRegistry, createSystemWorld } from "../../../dist/index.js";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";

export const delegationOf = (background) => ({
  tool: background ? "start_background_agent" : "subagent",
  args: (task) => ({ task }),
});

const lookup = {
  name: "lookup",
  description: "Looks an item up.",
  schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
  safe: true,
  run: async ({ key }) => ({ text: lookUp(key), failed: false }),
};

export async function delegate({ url, background, reporting, question }) {
  const child = { prompt: CHILD_PROMPT, model: "openai-chat/child", reporting: reporting === "tag" ? "tag" : "tool" };
  const errand = await createErrand({
    store: "memory",
    models: [
      createModelRegistry({ env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: url }, world: createSystemWorld() }),
    ],
    tools: [lookup],
    agents: {
      orchestrator: { prompt: PARENT_PROMPT, model: "openai-chat/parent" },
      worker: { ...child },
      researcher: { ...child },
    },
  });
  const { agent, reply } = await errand.start(question);
  let { text } = await reply();
  if (background) text = await announced(errand, agent);
  await errand.close();
  return text;
}

/** The answer of the turn that got the announcement. */
async function announced(errand, agent) {
  let announcing = false;
  for await (const { facts } of errand.journal(agent.id)) {
    if (facts.some((fact) => fact.type === "announcement-queued")) announcing = true;
    if (announcing && facts.some((fact) => fact.type === "turn-ended" && fact.agent === 0)) break;
  }
  return (await agent.history()).findLast(({ from }) => from === "agent").text;
}
