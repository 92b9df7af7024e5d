/** Values that no type allows but adapters and users' code may return. Drawn from the seed. */

import type { ModelReply, ToolOutput } from "../../../src/index.ts";
import type { Random } from "../random.ts";

class Exotic {
  readonly own = 1;
  get bad(): never {
    throw new Error("a getter of the simulation");
  }
}

function cycle(): object {
  const round: { self?: object } = {};
  round.self = round;
  return round;
}

const ODD_NUMBERS = [10.3, 1e19, -5, Number.NaN, Number.POSITIVE_INFINITY, "12", null, undefined, {}, 5n] as const;

export function oddUsage(random: Random): ModelReply["usage"] {
  const number = (): unknown => random.pick(ODD_NUMBERS);
  const odd = random.pick<() => unknown>([
    () => ({ input: number(), output: 7 }),
    () => ({ input: 9, output: number() }),
    () => ({ input: number(), output: number(), cachedInput: number() }),
    () => ({ input: 40, output: 2, cachedInput: 1e6 }),
    () => "much",
    () => [],
    () => ({}),
    () => undefined,
  ])();
  return odd as ModelReply["usage"];
}

export function oddRetryAfter(random: Random): number {
  const odd = random.pick<unknown>([Number.NaN, -5_000, 1e19, Number.POSITIVE_INFINITY, 0.1, "60", null, {}]);
  return odd as number;
}

/** A value that is not JSON, or not the JSON that it seems to be. */
function oddValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => undefined,
    () => () => "called",
    () => cycle(),
    () => 12n,
    () => Number.NaN,
    () => 1e308 * 10,
    () => Object.assign(Object.create(null), { token: "x" }) as unknown,
    () => new Exotic(),
    () => new Map([["token", "x"]]),
    () => new Date(0),
    () => Symbol("odd"),
    () => "\u0000 \ud800 lone",
    () => ({ toJSON: () => undefined }),
    () => ({ ["__proto__"]: { token: "x" }, constructor: 1 }),
    () => 2 ** 60,
  ])();
}

/** The reply with an odd part, or an odd value instead of it. */
export function oddReply(random: Random, reply: ModelReply): ModelReply {
  const call = (input: unknown): unknown => ({ type: "tool-call", id: "odd", name: "look", input });
  const value = (): unknown => oddValue(random);
  const odd = random.pick<() => unknown>([
    () => ({ ...reply, parts: [...reply.parts, { type: "image", data: value() }] }),
    () => ({ ...reply, parts: [...reply.parts, null, undefined, 7] }),
    () => ({ ...reply, parts: [...reply.parts, call(value())], stop: "tools" }),
    () => ({ ...reply, parts: [call({ token: value(), deep: [value()] })], stop: "tools" }),
    () => ({ ...reply, parts: [{ type: "tool-call", id: value(), name: value(), input: {} }] }),
    () => ({ ...reply, parts: [{ type: "text", text: value() }] }),
    () => ({ ...reply, parts: [{ type: "text", text: "a \ud800 b \u0000 c" }, ...reply.parts] }),
    () => ({ ...reply, parts: [{ type: "reasoning", text: "hm", data: value() }, ...reply.parts] }),
    () => ({ ...reply, parts: value() }),
    () => ({ ...reply, stop: value() }),
    () => ({ usage: null, stop: "end" }),
    () => Object.freeze({ ...reply, extra: cycle() }),
    () => value(),
    () => null,
  ])();
  return odd as ModelReply;
}

export function oddResult(random: Random): ToolOutput {
  const value = (): unknown => oddValue(random);
  const odd = random.pick<() => unknown>([
    () => ({ text: value(), failed: false }),
    () => ({ text: "saw", failed: value() }),
    () => ({ text: "saw \ud800\u0000", failed: false, more: cycle() }),
    () => Object.assign(Object.create(null), { text: "saw", failed: false }) as unknown,
    () => ({
      get text(): never {
        throw new Error("a getter of the simulation");
      },
      failed: false,
    }),
    () => ({ text: "saw", failed: false, toJSON: () => 12n }),
    () => new Exotic(),
    () => value(),
    () => ({ text: "x".repeat(300_000), failed: false }),
  ])();
  return odd as ToolOutput;
}

/** A thrown value that is often not an Error. */
export function oddThrow(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => undefined,
    () => Object.create(null) as unknown,
    () => Symbol("thrown"),
    () => 12n,
    () => () => {},
    () =>
      Object.defineProperty(new Error("hidden"), "message", {
        get(): never {
          throw new TypeError("no message");
        },
      }),
    () => ({
      toString(): never {
        throw new TypeError("no text");
      },
    }),
    () => Object.assign(new Error("hidden"), { message: undefined }),
    () => new Proxy({}, { get: () => null }),
  ])();
}
