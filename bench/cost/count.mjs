/** Counting prompts in tokens (o200k_base): what a request gives a model to read, without the JSON around messages. */
import { getEncoding } from "js-tiktoken";

const encoding = getEncoding("o200k_base");
export const tokensOf = (text) => (text === "" ? 0 : encoding.encode(text, "all").length);

export const textOf = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");

const toolTokens = (tools) => (tools === undefined || tools.length === 0 ? 0 : tokensOf(JSON.stringify(tools)));

/** The texts of all messages, the names and arguments of earlier calls, and the tools as JSON. */
export function promptTokens({ messages, tools }) {
  let tokens = toolTokens(tools);
  for (const message of messages) {
    tokens += tokensOf(textOf(message));
    for (const { function: called } of message.tool_calls ?? []) tokens += tokensOf(called.name + called.arguments);
  }
  return tokens;
}

/** What stands in every request of an agent besides what its user wrote: its system prompt, and the one tool of the user's own. */
export function standingTokens({ messages, tools = [] }, prompt) {
  const system = messages.filter(({ role }) => role === "system" || role === "developer").map(textOf);
  const own = tools.filter((tool) => tool.function.name === "lookup");
  return tokensOf(system.join("\n")) - tokensOf(prompt) + toolTokens(tools) - toolTokens(own);
}
