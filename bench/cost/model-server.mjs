/**
 * The model of the cost benchmark: a local HTTP server that speaks OpenAI's chat completions, with streams and without.
 * It follows the same script for every library: a parent hands items to children and answers with their results; a
 * child looks its item up and answers. The server keeps all requests.
 */
import { createServer } from "node:http";
import { answerFor, itemIn, tasksFor } from "../script.mjs";

const LOOKED_UP = /value of item \d+/;

const textOf = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");

/** Results after the last reply, in the order of the calls. */
function lastResults(messages) {
  const from = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages.slice(from).map(textOf);
}

/** The parent's reply. `tool` is the delegation tool of the library, `args` makes its arguments from a task. */
function parentReply(messages, { tool, args }) {
  const results = lastResults(messages);
  if (results.length === 0) {
    const asked = textOf(messages.at(-1));
    if (LOOKED_UP.test(asked)) return { text: answerFor([asked]) };
    return { calls: tasksFor(asked).map((task) => ({ name: tool, input: args(task) })) };
  }
  return { text: results.every((text) => LOOKED_UP.test(text)) ? answerFor(results) : "Started." };
}

/** The child's reply. `reporting` is the way in which it returns its result. */
function childReply(messages, reporting) {
  const results = lastResults(messages);
  if (results.length === 0) return { calls: [{ name: "lookup", input: { key: itemIn(textOf(messages.at(-1))) } }] };
  const [found = ""] = results;
  if (!LOOKED_UP.test(found)) return { text: "Reported." };
  switch (reporting) {
    case "final":
      return { calls: [{ name: "send_agent_message", input: { text: found, final: true } }] };
    case "tool":
      return { calls: [{ name: "send_agent_message", input: { text: found } }] };
    case "tag":
      return { text: `<response>${found}</response>` };
    default:
      return { text: found };
  }
}

function messageOf({ text, calls }, number) {
  const tool_calls = calls?.map(({ name, input }, index) => ({
    index,
    id: `call_${number}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  return { role: "assistant", content: text ?? null, ...(tool_calls === undefined ? {} : { tool_calls }) };
}

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

function answer(response, body, reply, number) {
  const known = { id: `chatcmpl-${number}`, created: 1, model: body.model };
  const message = messageOf(reply, number);
  const finish_reason = reply.calls === undefined ? "stop" : "tool_calls";
  if (body.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    const choices = [{ index: 0, message, finish_reason }];
    return response.end(JSON.stringify({ ...known, object: "chat.completion", choices, usage }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (choices, more = {}) =>
    response.write(`data: ${JSON.stringify({ ...known, object: "chat.completion.chunk", choices, ...more })}\n\n`);
  chunk([{ index: 0, delta: message, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason }]);
  chunk([], { usage });
  response.end("data: [DONE]\n\n");
}

export async function openModelServer({ delegation, reporting }) {
  const requests = [];
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const bytes = Buffer.concat(pieces);
      const body = JSON.parse(bytes.toString("utf8"));
      requests.push({ body, bytes: bytes.length });
      const { messages } = body;
      const reply = body.model === "parent" ? parentReply(messages, delegation) : childReply(messages, reporting);
      answer(response, body, reply, requests.length);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close: () => server.close() };
}
