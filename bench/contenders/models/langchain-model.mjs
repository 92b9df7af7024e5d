/** A scripted chat model of LangChain, for langgraph and deepagents. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";

const textOf = (message) =>
  typeof message.content === "string" ? message.content : message.content.map((part) => part.text ?? "").join("");

let replies = 0;

/** `script` returns `{ text }` or `{ name, inputs }` for the newest text and the results after the last reply. */
export class ScriptedChatModel extends BaseChatModel {
  constructor(script) {
    super({});
    this.script = script;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const from = messages.findLastIndex((message) => message.getType() !== "tool") + 1;
    const results = messages.slice(from).map(textOf);
    const said = this.script(results.length > 0 ? "" : textOf(messages.at(-1)), results);
    replies += 1;
    const usage_metadata = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    const message =
      said.text === undefined
        ? new AIMessage({
            content: "",
            tool_calls: said.inputs.map((args, index) => ({
              type: "tool_call",
              id: `call_${replies}_${index}`,
              name: said.name,
              args,
            })),
            usage_metadata,
          })
        : new AIMessage({ content: said.text, usage_metadata });
    return { generations: [{ text: said.text ?? "", message }] };
  }
}
