/** The protocol of OpenAI's responses API. */

import {
  data,
  type Fields,
  KEY,
  listOf,
  parsed,
  type SentBack,
  type Wire,
  type WireCall,
  type WireReply,
} from "./wire.ts";

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m", service_tier: null };

function opening(): readonly string[] {
  return ["response.created", "response.in_progress"].map((type) => data({ type, response: RESPONSE }));
}

function reasoningItem(index: number, { text, signature }: { readonly text: string; readonly signature: string }) {
  const item = { type: "reasoning", id: "rs_1", summary: [] };
  const place = { item_id: "rs_1", output_index: index, summary_index: 0 };
  return [
    data({ type: "response.output_item.added", output_index: index, item: { ...item, encrypted_content: null } }),
    data({ type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } }),
    data({ type: "response.reasoning_summary_text.delta", ...place, delta: text }),
    data({ type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text } }),
    data({
      type: "response.output_item.done",
      output_index: index,
      item: { ...item, summary: [{ type: "summary_text", text }], encrypted_content: signature },
    }),
  ];
}

function messageStart(index: number): string {
  const item = { type: "message", id: "msg_1", role: "assistant", content: [], phase: "final_answer" };
  return data({ type: "response.output_item.added", output_index: index, item });
}

function textDelta(index: number, delta: string): string {
  return data({ type: "response.output_text.delta", item_id: "msg_1", output_index: index, content_index: 0, delta });
}

function messageItem(index: number, text: string, refused: boolean): readonly string[] {
  const item = { type: "message", id: "msg_1", role: "assistant", content: [], phase: "final_answer" };
  const refusal = { type: "response.refusal.delta", item_id: "msg_1", output_index: index, content_index: 0 };
  const content = refused ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] };
  return [
    messageStart(index),
    refused ? data({ ...refusal, delta: text }) : textDelta(index, text),
    data({ type: "response.output_item.done", output_index: index, item: { ...item, content: [content] } }),
  ];
}

function callItem(index: number, call: WireCall) {
  const { id, name, namespace } = call;
  const item = { type: "function_call", id: `fc_${index}`, call_id: id, name, ...(namespace && { namespace }) };
  const place = { item_id: item.id, output_index: index };
  return [
    data({ type: "response.output_item.added", output_index: index, item: { ...item, arguments: "" } }),
    data({ type: "response.function_call_arguments.delta", ...place, delta: call.arguments }),
    data({ type: "response.function_call_arguments.done", ...place, arguments: call.arguments }),
    data({
      type: "response.output_item.done",
      output_index: index,
      item: { ...item, arguments: call.arguments, status: "completed" },
    }),
  ];
}

function frames(reply: WireReply): readonly string[] {
  const { reasoning, text, calls = [], stop, usage = { input: 10, cached: 0, output: 5 } } = reply;
  const items: ((index: number) => readonly string[])[] = [];
  if (reasoning !== undefined) items.push((index) => reasoningItem(index, reasoning));
  if (text !== undefined) items.push((index) => messageItem(index, text, stop === "refused"));
  for (const call of calls) items.push((index) => callItem(index, call));
  const cut = stop === "length";
  const response = {
    ...RESPONSE,
    incomplete_details: cut ? { reason: "max_output_tokens" } : null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
  return [
    ...opening(),
    ...items.flatMap((item, index) => item(index)),
    data({ type: cut ? "response.incomplete" : "response.completed", response }),
  ];
}

function read(body: string): SentBack {
  const items = listOf(parsed(body)["input"]);
  const ofType = (type: string): readonly Fields[] => items.filter((item) => item["type"] === type);
  return {
    signatures: ofType("reasoning").map((item) => String(item["encrypted_content"])),
    calls: ofType("function_call").map(({ call_id: id, name, arguments: written }) => ({
      id: String(id),
      name: String(name),
      input: JSON.parse(String(written)) as unknown,
    })),
    results: ofType("function_call_output").map(({ output }) => String(output)),
  };
}

export const openaiResponses: Wire = {
  title: "OpenAI responses",
  model: "openai/gpt-6.1-sol",
  reasoning: true,
  textArguments: true,
  env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
  frames,
  beginning: (text) => [...opening(), messageStart(0), textDelta(0, text)],
  earlyUsage: null,
  overflow: {
    status: 400,
    body: {
      error: {
        message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    },
  },
  error: (message) => ({ error: { message, type: "server_error", param: null, code: null } }),
  read,
  growing: "input",
};
