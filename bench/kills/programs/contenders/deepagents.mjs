/** deepagents: the parent's `task` tool starts a subagent. Checkpointed and restarted as langgraph's agents are. */
import { join } from "node:path";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ChatOpenAI } from "@langchain/openai";
import { createDeepAgent } from "deepagents";
import { tool } from "langchain";
import { z } from "zod";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../../script.mjs";
import { continueThread } from "../langgraph-thread.mjs";

export async function delegate({ url, folder, question, record, show, given }) {
  const newModel = (model) => new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL: url } });
  const recordTool = tool(({ key }) => record(key), {
    name: "record",
    description: "Records an item.",
    schema: z.object({ key: z.string() }),
  });
  const about = { name: "child", description: "Records items.", systemPrompt: CHILD_PROMPT };
  const parent = createDeepAgent({
    model: newModel("parent"),
    systemPrompt: PARENT_PROMPT,
    subagents: [{ ...about, tools: [recordTool], model: newModel("child") }],
    checkpointer: SqliteSaver.fromConnString(join(folder, "store.db")),
  });
  given();
  show(await continueThread(parent.graph ?? parent, parent, question));
}
