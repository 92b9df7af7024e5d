/**
 * Conversations of a soak whose first turn meets a reply that is odd, that does not end, or that drips. Their next
 * message must be answered. They have no channel and no tool: what they are told is not in the ledger.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { AgentOptions, Errand, Model, ModelProvider, ModelReply } from "../../src/index.ts";
import { ErrandError } from "../../src/index.ts";
import type { Random } from "../simulation/random.ts";
import { oddReply } from "../simulation/troubles/odd-values.ts";
import type { SoakFault } from "./faults.ts";

export type Probe = Extract<SoakFault, "odd-reply" | "endless-reply" | "dripping-reply">;

export const PROBES: readonly Probe[] = ["odd-reply", "endless-reply", "dripping-reply"];

/** So that endless replies are cut soon. The other models of a soak say little. */
export const PROBE_LIMITS = { replyTokens: 4_000, replySeconds: 2 } as const;
export const PROBE_DEFINITIONS: Readonly<Record<string, AgentOptions>> = {
  probe: { prompt: "You are probed.", model: "probed/model", tools: [] },
};

const SANE = "Are you there?";
const HERE = "I am here.";
const PIECE = "all work and no play ".repeat(20);
const DRIP_MS = 100;

function said(text: string): ModelReply {
  return { parts: [{ type: "text", text }], usage: { input: 10, output: 5 }, stop: "end" };
}

function probedModel(random: Random): Model {
  return {
    async call({ messages }, { signal, onText }) {
      const last = messages.at(-1);
      const text = last?.role === "user" ? last.text : "";
      // The message of a turn that failed is still in the context, before this one.
      if (text.includes(SANE)) return said(HERE);
      if (text.includes("odd-reply")) return oddReply(random, said(HERE));
      const drips = text.includes("dripping-reply");
      if (!drips && !text.includes("endless-reply")) return said(HERE);
      // Obeys its signal late, as a model of a user's own may.
      while (!signal.aborted) {
        onText?.(drips ? "." : PIECE);
        await sleep(drips ? DRIP_MS : 0);
      }
      throw new Error("aborted");
    },
  };
}

export function withProbedModel(provider: ModelProvider, random: Random): ModelProvider {
  const model = probedModel(random);
  return {
    resolve: (name) =>
      name === "probed/model" ? { model, facts: { window: null, price: null } } : provider.resolve(name),
  };
}

/** What went wrong, or null. `patiently` asks a busy store again. */
export async function probe(
  errand: Errand,
  kind: Probe,
  patiently: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<string | null> {
  const agent = await patiently(() => errand.openAgent({ agent: "probe" }));
  const ask = async (id: string, text: string): Promise<string> => {
    try {
      return (await patiently(() => agent.postAndAwait(text, { id: `${agent.id}-${id}` }))).text;
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      return error.code === "turn-failed" ? `failed: ${String(error.details["reason"])}` : error.code;
    }
  };
  const first = await ask("first", kind);
  const fine = kind === "odd-reply" ? !/^[a-z]+(-[a-z]+)+$/.test(first) : first === "failed: reply-limit";
  if (!fine) return `the ${kind} of ${agent.id} came to: ${first.slice(0, 200)}`;
  const second = await ask("second", SANE);
  if (second !== HERE) return `after its ${kind} ${agent.id} said: ${second.slice(0, 200)}`;
  await patiently(() => agent.close());
  return null;
}
