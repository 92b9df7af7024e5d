/** A conversation whose parent and children are models behind a real HTTP server, each with its own script. */

import { randomUUID } from "node:crypto";
import type { AgentOptions, ErrandOptions } from "../../src/index.ts";
import { createMemoryChannel } from "../../src/testing/index.ts";
import { parsed, type Wire, type WireCall, type WireReply } from "../models/wires/wire.ts";
import { openWireErrand, parentIs } from "../models/wires/wire-errand.ts";
import { type Exchange, openWireServer, refuse, stream } from "../models/wires/wire-server.ts";
import { eventsUntil, turnsEnded } from "../support/test-errand.ts";

/** The server's reaction to one request. */
export type Step = WireReply | ((exchange: Exchange) => void | Promise<void>);

export interface Steps {
  readonly parent: readonly Step[];
  /** By the child's task. */
  readonly children: Readonly<Record<string, readonly Step[]>>;
}

export async function converse(
  wire: Wire,
  steps: Steps,
  options: Partial<ErrandOptions> & { readonly child?: Partial<AgentOptions> } = {},
) {
  const taken = new Map<string, number>();
  const server = await openWireServer((exchange) => {
    const who = speaker(steps, exchange);
    const number = taken.get(who) ?? 0;
    taken.set(who, number + 1);
    const step = (who === PARENT ? steps.parent : steps.children[who])?.[number];
    if (step === undefined) return refuse(exchange, 400, wire.error(`nothing is left for ${who}`));
    return typeof step === "function" ? step(exchange) : stream(exchange, wire.frames(step));
  });
  const { child, ...more } = options;
  const errand = await openWireErrand(wire, server, {
    agents: { orchestrator: { prompt: "You are the parent." }, worker: { prompt: "You are a child.", ...child } },
    ...more,
  });
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  return {
    errand,
    agent,
    server,
    /** The messages to the user, in order. */
    shown: (): string[] => channel.messages.map(({ text }) => text),
    /** Posts, and waits for this many ended turns of the parent and messages to the user. */
    async ask(turns: number, messages: number): Promise<void> {
      await agent.post("Please.");
      await eventsUntil(errand, agent.id, turnsEnded(turns));
      await channel.received(messages);
    },
    /** The bodies of the requests of the parent, or of the child with this task. */
    bodies: (who: string = PARENT): string[] =>
      server.exchanges.filter((exchange) => speaker(steps, exchange) === who).map(({ body }) => body),
  };
}

const PARENT = "the parent";

function speaker({ children }: Steps, exchange: Exchange): string {
  if (parentIs(exchange)) return PARENT;
  return Object.keys(children).find((task) => exchange.body.includes(task)) ?? "an unknown child";
}

/** All texts of a request's context, joined. */
export function contextOf(wire: Wire, body: string | undefined): string {
  return body === undefined ? "" : stringsOf(parsed(body)[wire.growing]).join("\n");
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
}

/** The newest tool result in a request. Google's protocol puts it into an object. */
export function resultOf(wire: Wire, body: string | undefined): string {
  const last = body === undefined ? "" : (wire.read(body).results.at(-1) ?? "");
  return wire.growing === "contents" ? (stringsOf(JSON.parse(last)).at(-1) ?? "") : last;
}

export function payloadOf(wire: Wire, body: string | undefined): Record<string, unknown> {
  return JSON.parse(resultOf(wire, body)) as Record<string, unknown>;
}

export function call(name: string, input: unknown): WireCall {
  return { id: `call_${randomUUID()}`, name, arguments: typeof input === "string" ? input : JSON.stringify(input) };
}

export function calling(name: string, input: unknown): WireReply {
  return { calls: [call(name, input)] };
}

export function final(text: string, more: Readonly<Record<string, unknown>> = {}): WireReply {
  return calling("send_agent_message", { text, final: true, ...more });
}

export function saying(text: string): WireReply {
  return { text, stop: "end" };
}

/** A server that never answers. */
export function silence(): void {
  // The connection is left open.
}
