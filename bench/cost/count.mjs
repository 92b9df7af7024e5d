/** Counts the tokens of prompts (o200k_base): the texts that a model reads, without the JSON around messages. */
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

/** The tokens in every request of an agent, without the user's system prompt and the user's tool. */
export function standingTokens({ messages, tools = [] }, prompt) {
  const system = messages.filter(({ role }) => role === "system" || role === "developer").map(textOf);
  const own = tools.filter((tool) => tool.function.name === "lookup");
  return tokensOf(system.join("\n")) - tokensOf(prompt) + toolTokens(tools) - toolTokens(own);
}
