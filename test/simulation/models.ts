/**
 * The models of a simulation: how long a call takes, whether it fails, hangs or answers although it was aborted, and
 * its reply (replies.ts). Everything is drawn from the seed; a call of an ended life never returns.
 */

import {
  type Model,
  type ModelCallOptions,
  ModelFailure,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
} from "../../src/index.ts";
import { type CallsUnderWay, enterCall, type OnStray, unheard } from "./calls.ts";
import type { Random } from "./random.ts";
import { type ScriptedWords, type Token, wordsOf } from "./replies.ts";
import { FAILED_REQUEST } from "./secret.ts";
import { plainText } from "./invariants/plain-values.ts";
import { Violation } from "./invariants/violation.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";
import { type Situation, situationOf } from "./situation.ts";
import { oddReply, oddRetryAfter, oddThrow, oddUsage } from "./troubles/odd-values.ts";
import type { Troubles } from "./troubles/troubles.ts";

export interface SimulatedModels {
  readonly random: Random;
  readonly world: SimulatedWorld;
  /** Model calls after which agents only finish. */
  readonly budget: number;
  /** True if there are agents with a runner. */
  readonly outside: boolean;
  readonly window: number | null;
  /** Gets every request, and its messages as JSON. Returns the id of the agent. */
  readonly onRequest: (request: ModelRequest, messages: string, situation: Situation) => string;
  /** Makes a unique word of the agent. */
  readonly token: (agent: string) => string;
  readonly count: (what: string) => void;
  readonly onStray: OnStray;
  readonly troubles: () => Troubles;
  /** Called when a call has returned a reply or a failure. */
  readonly onAnswered: (agent: string, life: Life) => void;
  /** Runs a check and records what it throws. */
  readonly check: (work: () => void) => void;
}

type Plan =
  | { readonly do: "reply" }
  | { readonly do: "hang" }
  | { readonly do: "fail"; readonly failure: () => ModelFailure };

const LATENCIES = [
  [30, 0],
  [20, 1],
  [20, 300],
  [15, 1_000],
  [8, 5_000],
  [4, 30_000],
  [2, 200_000],
] as const;
/** The time between two parts of an endless stream. A root may stream for an hour. */
const DRIP_MS = 2_000;
const ROOT_DRIP_MS = 60_000;
/** A root has no deadline, so a call that hangs ends as a failure of the provider. */
const ROOT_HANGS_MS = 900_000;

export function createSimulatedModels(parts: SimulatedModels, under: CallsUnderWay, life: Life): ModelProvider {
  const model: Model = { call: (request, options) => call(parts, under, life, request, options) };
  const facts = { window: parts.window, price: { input: 1_000_000, output: 5_000_000, cachedInput: 100_000 } };
  return {
    resolve: (name) =>
      name.startsWith("sim/") && name !== "sim/none"
        ? { model, facts }
        : { unavailable: `There is no model "${name}".` },
  };
}

function call(
  parts: SimulatedModels,
  under: CallsUnderWay,
  life: Life,
  request: ModelRequest,
  { signal, onText }: ModelCallOptions,
): Promise<ModelReply> {
  const { promise, resolve, reject } = Promise.withResolvers<ModelReply>();
  if (unheard(life, "calls a model", parts.onStray)) return promise;
  const { random, world } = parts;
  const situation = situationOf(request);
  let messages = "";
  parts.check(() => {
    messages = plainText(request.messages);
  });
  const speaker = parts.onRequest(request, messages, situation);
  under.models += 1;
  const tired = under.models > parts.budget;
  const plan = planOf(random, situation, tired, request);
  const deaf = random.percent(15);
  const latency = random.weighted(LATENCIES);
  const settle = enterCall(under, { what: "model call", agent: speaker });
  parts.count(plan.do === "reply" ? "model-called" : `model-${plan.do}`);
  const answer = (): void => {
    if (!settle()) parts.count("reply-after-abort");
    else parts.onAnswered(speaker, life);
    const failure = plan.do === "fail" ? { thrown: plan.failure() } : failureWith(parts, tired);
    if (failure !== null) return reject(failure.thrown);
    const reply = replyOf(parts, request, messages.length, situation, speaker, tired);
    if (parts.troubles().kinds.has("throwing-listener") || parts.troubles().kinds.has("rejecting-listener"))
      if (!streamed(parts, reply, onText)) return reject(new Error("The stream broke."));
    resolve(oddly(parts, reply, tired));
  };
  const endless = situation.agent === null ? "endless-root-reply" : "endless-reply";
  if (!tired && onText !== undefined && parts.troubles().strikes(endless, 15)) {
    parts.count(`trouble ${endless}`);
    const most = parts.troubles().random.pick(["x", "x".repeat(262_144)]);
    const drip = (): void => {
      if (signal.aborted) return;
      onText(most);
      world.at(world.now + (situation.agent === null ? ROOT_DRIP_MS : DRIP_MS), drip, life);
    };
    world.at(world.now, drip, life);
    signal.addEventListener("abort", () => {
      if (settle()) reject(new ModelFailure("aborted", "The stream was aborted."));
    });
    return promise;
  }
  signal.addEventListener("abort", () => {
    if (!settle()) return;
    parts.count("model-aborted");
    const usage = random.percent(50) ? { usage: { input: random.below(5_000), output: random.below(500) } } : {};
    if (!deaf) reject(new ModelFailure("aborted", "The call was aborted.", { ...FAILED_REQUEST, ...usage }));
  });
  if (plan.do !== "hang") world.at(world.now + latency, answer, life);
  else if (situation.agent === null) {
    const ends = (): void =>
      settle() ? reject(new ModelFailure("provider-error", "It hung.", FAILED_REQUEST)) : undefined;
    world.at(world.now + ROOT_HANGS_MS, ends, life);
  }
  return promise;
}

/** A listener that throws must not reach the model. */
function streamed({ check }: SimulatedModels, reply: ModelReply, onText: ModelCallOptions["onText"]): boolean {
  try {
    for (const part of reply.parts) if (part.type === "text") onText?.(part.text);
    return true;
  } catch {
    check(() => {
      throw new Violation("listeners", "what a listener threw reached the model");
    });
    return false;
  }
}

/** An odd value that a call throws instead of a proper failure, or null. */
function failureWith({ troubles, count }: SimulatedModels, tired: boolean): { readonly thrown: unknown } | null {
  const { random } = troubles();
  if (tired) return null;
  if (troubles().strikes("odd-throw", 5)) {
    count("trouble odd-throw");
    return { thrown: oddThrow(random) };
  }
  if (!troubles().strikes("odd-retry", 15)) return null;
  count("trouble odd-retry");
  const options = { retryable: true, retryAfterMs: oddRetryAfter(random), usage: { input: 3, output: 1 } };
  return { thrown: new ModelFailure("provider-error", "429", options) };
}

function oddly({ troubles, count }: SimulatedModels, reply: ModelReply, tired: boolean): ModelReply {
  const { random } = troubles();
  if (troubles().strikes("odd-usage", 40)) {
    count("trouble odd-usage");
    return { ...reply, usage: oddUsage(random) };
  }
  if (tired || !troubles().strikes("odd-reply", 20)) return reply;
  count("trouble odd-reply");
  return oddReply(random, reply);
}

function planOf(random: Random, situation: Situation, tired: boolean, request: ModelRequest): Plan {
  const fail = (failure: () => ModelFailure): Plan => ({ do: "fail", failure });
  const error = (message: string, retryable: boolean, retryAfterMs?: number): Plan =>
    fail(
      () =>
        new ModelFailure("provider-error", message, {
          retryable,
          ...FAILED_REQUEST,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        }),
    );
  if (tired) return random.percent(3) ? error("500", true) : { do: "reply" };
  if (request.messages.length > 14 && random.percent(40))
    return fail(() => new ModelFailure("context-overflow", "too long"));
  return random.weighted<Plan>([
    [situation.announced ? 70 : 88, { do: "reply" }],
    [situation.announced ? 20 : 5, error("429", true, random.pick([2_000, 60_000]))],
    [3, error("500", true)],
    [2, error("401", false)],
    [2, fail(() => new ModelFailure("context-overflow", "too long"))],
    [1, fail(() => new ModelFailure("refused", "no"))],
    [3, { do: "hang" }],
  ]);
}

function replyOf(
  parts: SimulatedModels,
  request: ModelRequest,
  length: number,
  situation: Situation,
  speaker: string,
  tired: boolean,
): ModelReply {
  const { random, count } = parts;
  const token: Token = () => parts.token(speaker);
  const words = wordsOf({ random, situation, token, tired, outside: parts.outside });
  count(`habit-${words.habit}`);
  // Some providers repeat ids in every reply, some even within one reply.
  const ids = random.pick(["fresh", "fresh", "again", "same"]);
  const calls = words.calls.map(({ name, input }, index) => ({
    type: "tool-call" as const,
    id: ids === "fresh" ? `c${request.messages.length}-${index}` : ids === "again" ? `c${index}` : "c",
    name,
    input,
  }));
  const text = words.text === "" && calls.length > 0 ? [] : [{ type: "text" as const, text: words.text }];
  const refused = random.percent(tired ? 0 : 1);
  return {
    parts: [...text, ...calls],
    usage: random.percent(20) ? null : usageOf(length, words),
    stop: refused ? "refused" : calls.length > 0 ? "tools" : random.percent(2) ? "length" : "end",
  };
}

function usageOf(length: number, words: ScriptedWords): { input: number; output: number } {
  return { input: Math.ceil(length / 4), output: Math.ceil(JSON.stringify(words.text).length / 4) + 5 };
}
