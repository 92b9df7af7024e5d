/**
 * The model of the kill benchmark: a local HTTP server that speaks OpenAI's chat completions, outside of the process
 * that is killed. Each reply takes `replyMs`. It records every call, and whether the reply was written to the end.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ModelCall, rightAnswer, type Step, UNKNOWN_ANSWER } from "./judge.ts";

/** How a library's parent hands its task to a child, and how its child reports. */
export interface Delegation {
  readonly tool: string;
  /** The name of the argument for the task, and constant arguments. */
  readonly task: string;
  readonly more?: Readonly<Record<string, string>>;
  /** True: the child reports by Errand's tool. False: its last text is its result. */
  readonly reports?: boolean;
}

interface Message {
  readonly role: string;
  readonly content?: string | null | readonly { readonly text?: string }[];
}

interface Body {
  readonly model: "parent" | "child";
  readonly stream?: boolean;
  readonly messages: readonly Message[];
}

interface Reply {
  readonly step: Step;
  readonly text?: string;
  readonly call?: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
}

const textOf = ({ content }: Message): string =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
const fromOthers = ({ role }: Message): boolean => role === "user" || role === "tool";

function parentReply(messages: readonly Message[], item: string, { tool, task, more }: Delegation): Reply {
  const tail = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1).filter(fromOthers);
  const last = tail.map(textOf).join("\n");
  if (tail.every(({ role }) => role === "user") && last.includes(`delegate ${item}`))
    return { step: "delegate", call: { name: tool, input: { [task]: item, ...more } } };
  // Some libraries put the result in the place of an earlier one, and only say that there is news.
  const all = messages.filter(fromOthers).map(textOf).join("\n");
  for (const text of [last, all]) {
    if (text.includes(`value of ${item}`)) return { step: "answer", text: rightAnswer(item) };
    if (/unknown/i.test(text)) return { step: "answer", text: UNKNOWN_ANSWER };
  }
  return tail.every(({ role }) => role === "user")
    ? { step: "no-news", text: "Nothing yet." }
    : { step: "acknowledge", text: "Started." };
}

function childReply(messages: readonly Message[], item: string, { reports = false }: Delegation): Reply {
  const tail = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1).filter(fromOthers);
  if (tail.every(({ role }) => role === "user"))
    return { step: "use-tool", call: { name: "record", input: { key: item } } };
  const text = tail.map(textOf).join("\n");
  return reports
    ? { step: "report", call: { name: "send_agent_message", input: { text, final: true } } }
    : { step: "report", text };
}

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

function write(response: ServerResponse, body: Body, { text, call }: Reply, number: number): void {
  const known = { id: `chatcmpl-${number}`, created: 1, model: body.model };
  const tool_calls = call && [
    {
      index: 0,
      id: `call_${number}`,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    },
  ];
  const message = { role: "assistant", content: text ?? null, ...(tool_calls && { tool_calls }) };
  const finish_reason = call === undefined ? "stop" : "tool_calls";
  if (body.stream !== true) {
    const choices = [{ index: 0, message, finish_reason }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...known, object: "chat.completion", choices, usage }));
    return;
  }
  const chunk = (choices: readonly unknown[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...known, object: "chat.completion.chunk", choices, ...more })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(
    chunk([{ index: 0, delta: message, finish_reason: null }]) +
      chunk([{ index: 0, delta: {}, finish_reason }]) +
      chunk([], { usage }) +
      "data: [DONE]\n\n",
  );
}

export interface ModelServer {
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** The process has ended: pending replies are never finished. */
  abandon(): void;
  close(): void;
}

export async function openModelServer(options: {
  readonly item: string;
  readonly delegation: Delegation;
  readonly replyMs: number;
  /** Called with each request and each reply. */
  readonly onMoment: (moment: string) => void;
}): Promise<ModelServer> {
  const { item, delegation, replyMs, onMoment } = options;
  const calls: { -readonly [Key in keyof ModelCall]: ModelCall[Key] }[] = [];
  const pending = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString("utf8")) as Body;
      const reply = (body.model === "parent" ? parentReply : childReply)(body.messages, item, delegation);
      const sent = body.messages.filter(fromOthers).map(textOf);
      const call = { role: body.model, step: reply.step, messages: sent, finished: false };
      const number = calls.push(call);
      onMoment(`${reply.step} asked`);
      const timer = setTimeout(() => {
        pending.delete(timer);
        call.finished = true;
        write(response, body, reply, number);
        onMoment(`${reply.step} replied`);
      }, replyMs);
      pending.add(timer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const abandon = (): void => {
    for (const timer of pending) clearTimeout(timer);
    pending.clear();
  };
  const close = (): void => {
    abandon();
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/v1`, calls, abandon, close };
}
