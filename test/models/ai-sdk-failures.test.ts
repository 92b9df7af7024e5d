/** Failing providers over HTTP: the result of the call, the connection, and the usage. */

import { describe, expect, test } from "vitest";
import { ModelFailure } from "../../src/index.ts";
import { createTestWorld, type TestWorld } from "../support/test-world.ts";
import { ask, connect, unaborted, WIRES } from "./wires/index.ts";
import { anthropic, ping } from "./wires/anthropic.ts";
import { google } from "./wires/google.ts";
import { openaiChat } from "./wires/openai-chat.ts";
import type { Wire } from "./wires/wire.ts";
import { begin, type Behaviour, refuse, stream } from "./wires/wire-server.ts";

/** The failure of a call. */
async function failureOf(wire: Wire, behave: Behaviour, world?: TestWorld) {
  const { model, server } = await connect(wire, behave, world);
  const failure = await model.call(ask(wire), unaborted()).then(
    () => {
      throw new Error("the call went well");
    },
    (error: unknown) => error as ModelFailure,
  );
  expect(failure).toBeInstanceOf(ModelFailure);
  return { failure, server };
}

/** Begins a call and waits for its first text. */
async function underWay(wire: Wire, behave: Behaviour, world: TestWorld, controller = new AbortController()) {
  const { model, server } = await connect(wire, behave, world);
  const { promise: heard, resolve } = Promise.withResolvers<string>();
  const heardTexts: string[] = [];
  const settled = model
    .call(ask(wire), {
      signal: controller.signal,
      onText(delta) {
        heardTexts.push(delta);
        resolve(delta);
      },
    })
    .then(
      (reply) => ({ reply, failure: null }),
      (error: unknown) => ({ reply: null, failure: error as ModelFailure }),
    );
  await heard;
  return { settled, server, heardTexts };
}

async function pending(promise: Promise<unknown>): Promise<boolean> {
  const nothing = {};
  return (await Promise.race([promise, Promise.resolve(nothing)])) === nothing;
}

describe.each(WIRES)("$title", (wire) => {
  test("429 is retryable after the wait that the server asks for, and the SDK does not retry it", async () => {
    const body = wire.error("Slow down.");
    const seconds = await failureOf(wire, (exchange) => refuse(exchange, 429, body, { "retry-after": "7" }));
    expect(seconds.failure).toMatchObject({ code: "provider-error", retryable: true, retryAfterMs: 7_000 });
    expect(seconds.failure.message).toBe(`${wire.model} answered with status 429: Slow down.`);
    expect(seconds.server.exchanges).toHaveLength(1);
    const dates = { date: "Sun, 15 Nov 2026 12:00:00 GMT", "retry-after": "Sun, 15 Nov 2026 12:00:30 GMT" };
    const date = await failureOf(wire, (exchange) => refuse(exchange, 429, body, dates));
    expect(date.failure).toMatchObject({ retryable: true, retryAfterMs: 30_000 });
  });

  test("500 is retryable, also without a body; 401 is not", async () => {
    const broken = await failureOf(wire, (exchange) => refuse(exchange, 500, wire.error("Oh no")));
    expect(broken.failure).toMatchObject({ code: "provider-error", retryable: true, retryAfterMs: undefined });
    expect(broken.failure.message).toBe(`${wire.model} answered with status 500: Oh no.`);
    expect(broken.server.exchanges).toHaveLength(1);
    const page = await failureOf(wire, ({ response }) => void response.writeHead(502).end("<html>Bad gateway</html>"));
    expect(page.failure).toMatchObject({ code: "provider-error", retryable: true });
    const unknown = await failureOf(wire, (exchange) => refuse(exchange, 401, wire.error("Who are you?")));
    expect(unknown.failure).toMatchObject({ code: "provider-error", retryable: false });
    for (const { failure } of [broken, page, unknown]) expect(failure.usage).toEqual({ input: 0, output: 0 });
  });

  test("a context that is too long fails with `context-overflow`", async () => {
    const { failure } = await failureOf(wire, (exchange) => refuse(exchange, wire.overflow.status, wire.overflow.body));
    expect(failure).toMatchObject({ code: "context-overflow", retryable: false });
    const large = await failureOf(wire, (exchange) => refuse(exchange, 413, wire.error("Too large.")));
    expect(large.failure).toMatchObject({ code: "context-overflow" });
    const other = await failureOf(wire, (exchange) => refuse(exchange, 400, wire.error("A tool has no name.")));
    expect(other.failure).toMatchObject({ code: "provider-error", retryable: false });
  });

  test("a broken and an incomplete stream are retryable", async () => {
    const broken = await failureOf(wire, async (exchange) => {
      begin(exchange, wire.beginning("Half"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      exchange.response.destroy();
    });
    expect(broken.failure).toMatchObject({ code: "provider-error", retryable: true, usage: wire.earlyUsage });
    const ended = await failureOf(wire, (exchange) => stream(exchange, wire.beginning("Half")));
    expect(ended.failure).toMatchObject({ code: "provider-error", retryable: true });
    const empty = await failureOf(wire, (exchange) => stream(exchange, []));
    expect(empty.failure).toMatchObject({ code: "provider-error", retryable: true });
    const refused = await failureOf(wire, ({ response }) => void response.destroy());
    expect(refused.failure).toMatchObject({ code: "provider-error", retryable: true });
  });

  test("an abort ends the call and its connection at once, with the usage reported so far", async () => {
    const controller = new AbortController();
    const { settled, server, heardTexts } = await underWay(
      wire,
      (exchange) => begin(exchange, wire.beginning("Half")),
      createTestWorld(),
      controller,
    );
    expect(await pending(settled)).toBe(true);
    controller.abort();
    const { failure } = await settled;
    expect(failure).toBeInstanceOf(ModelFailure);
    expect(failure).toMatchObject({ code: "aborted", retryable: false, usage: wire.earlyUsage });
    const exchange = await server.exchange(1);
    expect(await exchange.closed).toBe(false);
    expect(heardTexts.join("")).toBe("Half");
  });

  test("an abort before the answer closes the connection, and one before the call opens none", async () => {
    const { model, server } = await connect(wire, () => undefined);
    const controller = new AbortController();
    const call = model.call(ask(wire), { signal: controller.signal });
    const exchange = await server.exchange(1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "aborted", usage: null });
    expect(await exchange.closed).toBe(false);
    await expect(model.call(ask(wire), { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(server.exchanges).toHaveLength(1);
  });

  test("a silent stream is cut after 120 seconds and retryable", async () => {
    const world = createTestWorld();
    const { settled, server } = await underWay(wire, (exchange) => begin(exchange, wire.beginning("Half")), world);
    await world.advance(119_999);
    expect(await pending(settled)).toBe(true);
    await world.advance(1);
    const { failure } = await settled;
    expect(failure).toMatchObject({ code: "provider-error", retryable: true, usage: wire.earlyUsage });
    expect(failure?.message).toBe(`${wire.model} sent nothing of its reply for 120 seconds, and was cut off.`);
    expect(await (await server.exchange(1)).closed).toBe(false);
  });

  test("a stream with only comments is cut like a silent one", async () => {
    const world = createTestWorld();
    const { settled, server } = await underWay(
      wire,
      (exchange) => {
        begin(exchange, wire.beginning("Half"));
        const drip = setInterval(() => exchange.response.write(": still here\n\n"), 1);
        exchange.response.on("close", () => clearInterval(drip));
      },
      world,
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    await world.advance(120_000);
    expect((await settled).failure).toMatchObject({ code: "provider-error", retryable: true });
    expect(await (await server.exchange(1)).closed).toBe(false);
  });

  test("a server that never answers is cut off too", async () => {
    const world = createTestWorld();
    const { model, server } = await connect(wire, () => undefined, world);
    const call = model.call(ask(wire), unaborted());
    const failed = expect(call).rejects.toMatchObject({ code: "provider-error", retryable: true });
    const exchange = await server.exchange(1);
    await world.advance(120_000);
    await failed;
    expect(await exchange.closed).toBe(false);
  });

  test("a slow stream is not cut", async () => {
    const world = createTestWorld();
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const { settled } = await underWay(
      wire,
      async (exchange) => {
        const frames = wire.frames({ text: "Half and half." });
        begin(exchange, frames.slice(0, -2));
        await open;
        exchange.response.end(frames.slice(-2).join(""));
      },
      world,
    );
    await world.advance(119_000);
    resolve();
    expect((await settled).reply?.stop).toBe("end");
    await world.advance(1_000_000);
  });
});

test("pings delay the cut only for some time", async () => {
  const world = createTestWorld();
  let pings = 0;
  const { settled } = await underWay(
    anthropic,
    (exchange) => {
      begin(exchange, anthropic.beginning("Half"));
      const drip = setInterval(() => {
        pings += 1;
        exchange.response.write(ping());
      }, 2);
      exchange.response.on("close", () => clearInterval(drip));
    },
    world,
  );
  for (let minute = 0; minute < 9; minute += 1) {
    await world.advance(60_000);
    const before = pings;
    while (pings < before + 3) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await pending(settled)).toBe(true);
  }
  await world.advance(61_000);
  expect((await settled).failure?.message).toContain("600 seconds");
});

test("of errors in the stream, overload is retryable and a bad request is not", async () => {
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  for (const frames of [[], anthropic.beginning("Half")]) {
    const { failure } = await failureOf(anthropic, (exchange) =>
      stream(exchange, [...frames, `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`]),
    );
    expect(failure).toMatchObject({ code: "provider-error", retryable: true });
    expect(failure.message).toContain("Overloaded");
  }
  const overflow = { error: { message: "too much", type: "invalid_request_error", code: "context_length_exceeded" } };
  const { failure } = await failureOf(openaiChat, (exchange) =>
    stream(exchange, [...openaiChat.beginning("Half"), `data: ${JSON.stringify(overflow)}\n\n`]),
  );
  expect(failure.code).toBe("context-overflow");
});

test("a 429 for a used-up quota is not retryable", async () => {
  const body = {
    error: { message: "You exceeded your quota.", type: "insufficient_quota", code: "insufficient_quota" },
  };
  const { failure } = await failureOf(openaiChat, (exchange) => refuse(exchange, 429, body));
  expect(failure).toMatchObject({ code: "provider-error", retryable: false });
});

test("a 429 about tokens is a rate limit, and Google's body has the wait", async () => {
  const error = {
    code: 429,
    message: "Quota exceeded: input token count per minute.",
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }],
  };
  const { failure } = await failureOf(google, (exchange) => refuse(exchange, 429, { error }));
  expect(failure).toMatchObject({ code: "provider-error", retryable: true, retryAfterMs: 34_500 });
});
