/**
 * Mastra's durable agent (beta): the supervisor's loop is a workflow whose snapshots are stored, because of
 * `recovery: { durableAgents: "auto" }`. Restart: recover the run that is active according to storage. Without an
 * active run, the answer is in memory or the question was not stored.
 */
import { createDurableAgent } from "@mastra/core/agent/durable";
import { Mastra } from "@mastra/core/mastra";
import { lastAnswer, mastraAgents, rememberedIn, showTexts, THREAD } from "../mastra-agents.mjs";

export async function delegate(options) {
  const { again, question, show, given } = options;
  const { parent, child, storage, memory } = mastraAgents(options);
  const durable = createDurableAgent({ agent: parent });
  const mastra = new Mastra({
    agents: { parent: durable, child },
    storage,
    logger: false,
    recovery: { durableAgents: "auto" },
  });
  const agent = mastra.getAgent("parent");
  given();
  const { runs } = again ? await agent.listActiveRuns() : { runs: [] };
  if (runs.length > 0) return showTexts((await agent.recover(runs[0].runId)).output.fullStream, show);
  const kept = again ? lastAnswer(await rememberedIn(memory)) : null;
  if (kept !== null) return show(kept);
  await showTexts((await agent.stream(question, { memory: THREAD })).output.fullStream, show);
}
