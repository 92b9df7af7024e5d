/**
 * Errand, with SQLite. The tool is declared unsafe to repeat, unless the options say that it is safe. After a restart
 * the runtime continues by itself; the program opens the existing conversation, so that the answer has a channel.
 */
import { join } from "node:path";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../../script.mjs";

export async function delegate({ url, folder, again, question, record, show, given, safe, entry }) {
  const { createErrand, createModelRegistry, createSystemWorld } = await import(entry);
  const env = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: url };
  const child = { prompt: CHILD_PROMPT, model: "openai-chat/child" };
  const errand = await createErrand({
    store: { path: join(folder, "store.db") },
    models: [createModelRegistry({ env, world: createSystemWorld() })],
    tools: [
      {
        name: "record",
        description: "Records an item.",
        schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
        safe: safe === true,
        run: async ({ key }) => ({ text: await record(key), failed: false }),
      },
    ],
    agents: {
      orchestrator: { prompt: PARENT_PROMPT, model: "openai-chat/parent" },
      worker: { ...child },
      researcher: { ...child },
    },
  });
  const channel = { deliver: async ({ text }) => show(text) };
  const known = again ? await errand.listTrees() : [];
  given();
  if (known.length > 0) await errand.agent(known[0].id, { channel });
  else await errand.start(question, { channel });
}
