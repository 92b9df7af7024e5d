import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ENVELOPE_PROBLEMS,
  type EnvelopeProblem,
  envelopeProblemIs,
  envelopeRead,
  envelopeSizeProblem,
  envelopeWrite,
} from "./envelope.ts";
import { ENVELOPE_BYTES, ENVELOPE_DEPTH } from "./envelope-schemas.ts";
import type { Envelope } from "./envelope-types.ts";

const request = {
  v: 1,
  type: "request",
  correlation_id: "0198c0de-0000-7000-8000-000000000001",
  task: "Count the words.",
  limits: { timeout_seconds: 120, max_iterations: 8, summary_bytes: 32_768 },
} as const satisfies Envelope;

const result = {
  v: 1,
  type: "result",
  correlation_id: "c-1",
  status: "ok",
  summary: "812 words",
  artifacts: [],
} as const satisfies Envelope;

test("F9: what Python or Node.js take for the end of a line is escaped, and read back", () => {
  const task = "one\u0085two\u2028three\u2029four";
  expect(envelopeWrite({ ...request, task })).toContain("one\\u0085two\\u2028three\\u2029four");
  expect(envelopeRead(envelopeWrite({ ...request, task }))).toEqual({ ...request, task });
});

/** The problem of a text; throws if it has none. */
function problemOf(text: string): EnvelopeProblem {
  const read = envelopeRead(text);
  if (!envelopeProblemIs(read)) throw new Error("it was read without a problem");
  return read;
}

function changed(fields: object, base: object = request): string {
  return JSON.stringify({ ...base, ...fields });
}

/** A value as JSON can hold it: no negative zero. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as never);
const words = fc.string({ minLength: 1, maxLength: 200, unit: "binary" });
const id = fc.string({ minLength: 1, maxLength: 64 });
const usage = fc.oneof(
  fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat() }),
  fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat(), cost_micro_dollars: fc.nat() }),
);
const artifacts = fc.array(
  fc.record({
    kind: fc.constantFrom("note" as const, "path" as const, "diff" as const, "json" as const),
    value: fc.string(),
  }),
  { maxLength: 5 },
);
const correlation = { v: fc.constant(1 as const), correlation_id: fc.string({ minLength: 1, maxLength: 20 }) };

function joined<A extends object, B extends object>(must: fc.Arbitrary<A>, may: fc.Arbitrary<B>): fc.Arbitrary<A & B> {
  return fc.tuple(must, may).map(([a, b]) => ({ ...a, ...b }));
}

const envelopes: fc.Arbitrary<Envelope> = fc.oneof(
  joined(
    fc.record({
      ...correlation,
      type: fc.constant("request" as const),
      task: words,
      limits: fc.record({
        timeout_seconds: fc.integer({ min: 1 }),
        max_iterations: fc.integer({ min: 1 }),
        summary_bytes: fc.integer({ min: 1 }),
      }),
    }),
    fc.record(
      {
        context: fc.string({ unit: "binary" }),
        files: fc.array(words),
        output_schema: fc.dictionary(words, json),
        prompt: fc.string({ unit: "binary" }),
        workspace: words,
        attempt: fc.integer({ min: 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
  joined(
    fc.record({
      ...correlation,
      type: fc.constant("result" as const),
      status: fc.constantFrom("ok", "error", "timeout", "cancelled", "interrupted"),
      summary: fc.string({ unit: "binary" }),
      artifacts,
    }),
    fc.record({ reason: fc.constantFrom("no-report", "token-limit"), data: json, usage }, { requiredKeys: [] }),
  ),
  joined(
    fc.record({ ...correlation, type: fc.constant("progress" as const) }),
    fc.record({ text: words, iterations: fc.nat(), usage }, { requiredKeys: [] }),
  ),
  joined(
    fc.record({ ...correlation, type: fc.constant("report" as const), text: words }),
    fc.record({ artifacts, data: json }, { requiredKeys: [] }),
  ),
  joined(
    fc.record({ ...correlation, type: fc.constant("question" as const), id, text: words }),
    fc.record({ choices: fc.array(words, { maxLength: 20 }) }, { requiredKeys: [] }),
  ),
  joined(
    fc.record({ ...correlation, type: fc.constant("answer" as const), question: id }),
    fc.record({ text: fc.string({ unit: "binary" }) }, { requiredKeys: [] }),
  ),
  fc.record({ ...correlation, type: fc.constant("steer" as const), text: words }),
  fc.record({ ...correlation, type: fc.constant("report-accepted" as const) }),
  fc.record({ ...correlation, type: fc.constant("report-refused" as const), problem: words }),
);

test("F9: an envelope that is written and read again is the same", () => {
  fc.assert(
    fc.property(envelopes, (envelope) => {
      expect(envelopeRead(envelopeWrite(envelope))).toEqual(envelope);
    }),
  );
});

test("F9: an envelope is one line, and the order of its fields is fixed", () => {
  fc.assert(
    fc.property(envelopes, (envelope) => {
      const reversed = Object.fromEntries(Object.entries(envelope).toReversed()) as unknown as Envelope;
      expect(envelopeWrite(reversed)).toBe(envelopeWrite(envelope));
      expect(envelopeWrite(envelope)).not.toMatch(/[\r\n\u0085\u2028\u2029]/);
      expect(envelopeWrite(envelope)).toMatch(/^\{"v":1,"type":"[a-z-]+","correlation_id":/);
    }),
  );
});

test("F9: any text and any JSON give an envelope or a problem with a known code, never an exception", () => {
  const codes = Object.keys(ENVELOPE_PROBLEMS);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((text) => `{"v":1,"type":${text}}`),
      ),
      (text) => {
        expect(codes).toContain(problemOf(text).problem);
      },
    ),
  );
});

test.each(["", "{", "nul", "[]", "null", '"request"', "1", "\ufeff{}", `${JSON.stringify(request)}x`])(
  "F9: %j is `envelope-json`",
  (text) => {
    expect(problemOf(text).problem).toBe("envelope-json");
  },
);

test.each([{}, { v: 2 }, { v: "1" }, { v: null }, { v: 2, type: "from-the-future", unknown: true }])(
  "F9: %j is `envelope-version`, whatever its other fields",
  (value) => {
    expect(problemOf(JSON.stringify(value)).problem).toBe("envelope-version");
  },
);

test("F9: unknown types and fields, missing fields and wrong kinds are problems that name the field", () => {
  const cases: readonly (readonly [string, string])[] = [
    [changed({ type: "order" }), "type"],
    [changed({ type: undefined }), "type"],
    [changed({ type: "constructor" }), "type"],
    [changed({ priority: 1 }), "priority"],
    [changed({ task: undefined }), "task"],
    [changed({ task: "" }), "task"],
    [changed({ task: ["a"] }), "task"],
    [changed({ correlation_id: undefined }), "correlation_id"],
    [changed({ correlation_id: "x".repeat(65) }), "correlation_id"],
    [changed({ files: ["a", 2] }), "files[1]"],
    [changed({ output_schema: [] }), "output_schema"],
    [changed({ limits: { ...request.limits, timeout_seconds: 0 } }), "limits.timeout_seconds"],
    [changed({ limits: { ...request.limits, grace: 5 } }), "limits.grace"],
    [changed({ limits: { timeout_seconds: 1, max_iterations: 1 } }), "limits.summary_bytes"],
    [changed({ limits: { ...request.limits, max_iterations: 1e300 } }), "limits.max_iterations"],
    [changed({ status: "fine" }, result), "status"],
    [changed({ summary: null }, result), "summary"],
    [changed({ artifacts: [{ kind: "file", value: "1" }] }, result), "artifacts[0].kind"],
    [changed({ artifacts: [{ kind: "note", value: "1", more: 2 }] }, result), "artifacts[0].more"],
    [changed({ usage: { input_tokens: 1 } }, result), "usage.output_tokens"],
    [changed({ usage: { input_tokens: -1, output_tokens: 0 } }, result), "usage.input_tokens"],
    [changed({ usage: null }, result), "usage"],
  ];
  for (const [text, field] of cases) {
    const { problem, message } = problemOf(text);
    expect({ text, problem }).toEqual({ text, problem: "envelope-json" });
    expect(message).toContain(`\`${field}\``);
  }
});

/** An envelope of exactly this many bytes. */
function sized(envelope: Envelope, bytes: number): string {
  const written = envelopeWrite(envelope);
  return `${written.slice(0, -1)}${" ".repeat(bytes - written.length)}}`;
}

test("F9: every type of envelope is made by the tests above", () => {
  const seen = new Set(fc.sample(envelopes, 500).map(({ type }) => type));
  expect([...seen].toSorted()).toEqual(Object.keys(ENVELOPE_BYTES).toSorted());
});

test("F9: a request of 1 MiB and a result of 4 MiB are read, one byte more is `envelope-size`", () => {
  expect([ENVELOPE_BYTES.request, ENVELOPE_BYTES.result]).toEqual([1024 ** 2, 4 * 1024 ** 2]);
  for (const envelope of [request, result]) {
    const most = ENVELOPE_BYTES[envelope.type];
    expect(envelopeRead(sized(envelope, most))).toEqual(envelope);
    expect(problemOf(sized(envelope, most + 1)).problem).toBe("envelope-size");
  }
});

test("F9: size is measured in bytes of UTF-8, and can be checked before sending", () => {
  const summary = "€".repeat(1_398_000);
  const fits = envelopeWrite({ ...result, summary });
  expect(envelopeSizeProblem("result", fits)).toBeNull();
  const tooLarge = envelopeWrite({ ...result, summary: `${summary}${"€".repeat(500)}` });
  expect(tooLarge.length).toBeLessThan(ENVELOPE_BYTES.result / 2);
  expect(envelopeSizeProblem("result", tooLarge)?.problem).toBe("envelope-size");
  expect(problemOf(tooLarge).problem).toBe("envelope-size");
});

test("F9: a text that is too large is refused before it is parsed", () => {
  expect(problemOf("{".repeat(5_000_000)).problem).toBe("envelope-size");
  expect(problemOf(" ".repeat(50_000_000)).problem).toBe("envelope-size");
});

test("F9: nesting is measured on the text without recursion, and brackets in strings do not count", () => {
  const at = (depth: number): string => `${envelopeWrite(result).slice(0, -1)},"data":${nested(depth)}}`;
  expect(envelopeProblemIs(envelopeRead(at(ENVELOPE_DEPTH - 1)))).toBe(false);
  expect(problemOf(at(ENVELOPE_DEPTH)).problem).toBe("envelope-json");
  for (const hostile of ["[".repeat(4_000_000), '{"a":'.repeat(800_000), nested(2_000_000)]) {
    expect(problemOf(hostile).problem).toBe("envelope-json");
  }
  const summary = `${"[{".repeat(1_000)}\\"${"[".repeat(1_000)}`;
  expect(envelopeRead(envelopeWrite({ ...result, summary }))).toMatchObject({ summary });
});

function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

test("F9: a key `__proto__` changes no prototype, and is an ordinary field in data", () => {
  const top = `{"__proto__":{"v":1,"type":"request"},"v":1,"type":"request"}`;
  expect(problemOf(top)).toMatchObject({ problem: "envelope-json" });
  expect(problemOf(`{"__proto__":{"v":1}}`).problem).toBe("envelope-version");
  expect(problemOf(`${envelopeWrite(request).slice(0, -1)},"__proto__":{"polluted":true}}`).message).toContain(
    "`__proto__`",
  );
  const inside = `${envelopeWrite(result).slice(0, -1)},"data":{"__proto__":{"polluted":true}}}`;
  const read = envelopeRead(inside);
  if (envelopeProblemIs(read) || read.type !== "result") throw new Error("it must be read");
  expect(Object.getPrototypeOf(read.data)).toBe(Object.prototype);
  expect(Object.keys(read.data as object)).toEqual(["__proto__"]);
  expect("polluted" in {}).toBe(false);
  expect(envelopeWrite(read)).toBe(inside);
});

test("F9: the largest hostile text is checked in well under a second", () => {
  const hostile = [`{"v":1,"type":"${'\\"'.repeat(2_000_000)}"}`, nested(2_000_000)];
  // Processor time, because other work on the machine delays the test.
  const started = process.cpuUsage();
  for (const text of hostile) problemOf(text);
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});
