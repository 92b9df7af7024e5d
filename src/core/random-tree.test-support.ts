/**
 * Drives a tree at random, from a list of numbers: any input at any time, sensible or not. What a model says, which
 * effect answers, what time it is and how many slots there are all come from the numbers, so that a failing list can be
 * shrunk and run again.
 */

import { createHash } from "node:crypto";
import type { Step } from "./step.ts";
import type { Fact, Input } from "./event.ts";
import type { AgentKind, CallFacts } from "./input.ts";
import { asPostId, asStepKey, type StepKey } from "./values/ids.ts";
import type { JournalRow } from "./journal/journal.ts";
import type { Json } from "./values/json.ts";
import { type LimitChoices, settingsOf } from "./values/limits.ts";
import { judgedAnswer } from "./questions/judged-answer.ts";
import { catalogChanged, forked, FULL, OUTSIDE, RIGHTS, testDefinition } from "./random-definitions.test-support.ts";
import { outsideInput } from "./random-outside.test-support.ts";
import { chooseCall, spawnArguments } from "./random-calls.test-support.ts";
import { headRead } from "./journal/row.ts";
import { type Stepped, type Tree, treeNew, type TreeSource, treeSource, treeStep } from "./tree.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

export const testSource: TreeSource = treeSource(sha256, (hash) => ({
  name: hash,
  description: `the ${hash}`,
  prompt: `You are the ${hash}.`,
  tools: [
    { name: "look", description: "Look", schema: {} },
    { name: "break", description: "Break", schema: {} },
  ],
}));

function testOpened(limits: LimitChoices = {}, more: Partial<Extract<Input, { type: "tree-opened" }>> = {}): Input {
  return {
    type: "tree-opened",
    agent: "0198c0de-0000-7000-8000-000000000000",
    kind: "foreground",
    definition: "boss",
    catalog: [
      testDefinition("boss"),
      testDefinition("worker", { permissions: [[{ decision: "allow", tool: "look" }]] }),
      testDefinition("tagger", { reporting: "tag", window: 3_000 }),
      ...OUTSIDE,
    ],
    settings: settingsOf({ limits }),
    rights: FULL,
    ...more,
  };
}

export interface Driven {
  readonly tree: Tree;
  readonly rows: JournalRow[];
  readonly steps: Step[];
  readonly stepped: Stepped[];
}

const SLOTS = [0, 1, 2, 64];
const WAITS = [0, 1, 1_000, 17_000, 121_000, 301_000, 1_801_000];

/** The same numbers for the same seed. */
export function seededNumbers(seed: number, length: number): readonly number[] {
  let x = seed * 7_919;
  return Array.from({ length }, () => {
    x = (x * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (x >> 8) % 1_000;
  });
}

/** Interprets the numbers as a sequence of steps. */
export function drive(numbers: readonly number[], limits: LimitChoices = {}, kind: AgentKind = "foreground"): Driven {
  const tree = treeNew(testSource);
  const driven: Driven = { tree, rows: [], steps: [], stepped: [] };
  let position = 0;
  let at = 1_700_000_000_000;
  const next = (): number => {
    position += 1;
    return Math.abs(numbers[position - 1] ?? 0);
  };
  const take = (input: Input, texts: readonly Json[]): void => {
    const seed = sha256(`${position}`)
      .replaceAll(/[^0-9a-f]/g, "")
      .padEnd(16, "7")
      .slice(0, 16);
    const step: Step = { at, seed, slots: SLOTS[next() % SLOTS.length] ?? 0, input, texts };
    driven.steps.push(step);
    const stepped = treeStep(tree, step, "salt");
    driven.stepped.push(stepped);
    driven.rows.push(stepped.row);
  };
  take(testOpened(limits, { kind }), []);
  while (position < numbers.length) {
    at += WAITS[next() % (next() % 4 === 0 ? WAITS.length : 3)] ?? 0;
    const [input, texts] = chooseInput(tree, next, driven.steps.length);
    take(input, texts);
  }
  return driven;
}

type Choice = readonly [Input, readonly Json[]];

function chooseInput(tree: Tree, next: () => number, count: number): Choice {
  const open = [...tree.state.effects];
  const kind = next() % 20;
  const picked = open[next() % Math.max(1, open.length)];
  if (kind < 12 && picked !== undefined) {
    const [key, effect] = picked;
    const attempt = next() % 15 === 0 ? effect.attempt + 1 : effect.attempt;
    if (effect.kind === "model") return modelInput(tree, key, attempt, next);
    if (effect.kind === "tool" && !effect.safe && next() % 3 === 0)
      return [{ type: "tool-not-run", effect: key, attempt }, []];
    if (effect.kind === "runner") return outsideInput(key, attempt, next);
    if (effect.kind === "tell") return [{ type: "runner-told", effect: key, attempt }, []];
    if (effect.kind === "erase") return [{ type: "texts-erased", effect: key, rows: [] }, []];
    const text = ["saw it", "", "x".repeat(next() % 300), "y".repeat(20 * (next() % 1_000))][next() % 4] ?? "";
    return toolInput(key, attempt, text, next);
  }
  const questions = [...tree.state.questions.keys(), asStepKey("1.1")];
  if (kind < 15 && next() % 3 === 0) {
    const question = questions[next() % questions.length] ?? asStepKey("1.1");
    const said = next();
    const given: Input = {
      type: "answer-given",
      id: asPostId(`answer-${count}`),
      question,
      allow: said % 2 === 0,
      ...(said % 3 === 1 ? { text: true } : {}),
      ...(said % 6 === 0 ? { always: true, seen: "mark" } : {}),
    };
    const texts = [["", "yes", "no", "something else"][next() % 4] ?? ""];
    return [judgedAnswer(tree, given, texts), texts];
  }
  const [aborted] = tree.state.aborted;
  if (aborted !== undefined && next() % 2 === 0) {
    const [effect, { attempt }] = aborted;
    const usage = { input: next() % 3_000, output: next() % 50 };
    return [{ type: "usage-learnt", effect, attempt: next() % 15 === 0 ? attempt + 1 : attempt, usage }, []];
  }
  const agents = [...tree.state.agents.keys(), 99];
  const agent = agents[next() % agents.length] ?? 0;
  switch (kind) {
    case 12:
    case 13: {
      const how = (["user", "system", "steer"] as const)[next() % 3] ?? "user";
      const silent = how === "system" && next() % 2 === 0 ? ({ silent: true } as const) : {};
      return [
        {
          type: "message-posted",
          id: asPostId(`post-${count}`),
          to: next() % 3 === 0 ? agent : 0,
          kind: how,
          ...silent,
          size: 5,
        },
        [`hello ${count}`],
      ];
    }
    case 14:
      return [{ type: "effects-lost", effects: open.filter(() => next() % 2 === 0).map(([key]) => key) }, []];
    case 15:
      if (next() % 3 === 0) return [{ type: "rights-changed", rights: RIGHTS[next() % RIGHTS.length] ?? FULL }, []];
      if (next() % 8 === 0) return catalogChanged(tree, next);
      return [{ type: "slots-offered" }, []];
    case 16:
      return [
        {
          type: "run-asked",
          id: asPostId(`ask-${count}`),
          parent: agent,
          facts: {},
          ...(next() % 3 === 0 ? { announce: "none" } : {}),
        },
        [spawnArguments(next)],
      ];
    case 17:
      return next() % 3 === 0
        ? [{ type: "cancel-asked", id: asPostId(`cancel-${count}`), run: next() % 5 === 0 ? null : agent }, []]
        : [{ type: "timers-due" }, []];
    case 18:
      if (next() % 6 === 0) return forked(tree, next);
      return next() % 8 === 0
        ? [{ type: "close-asked", id: asPostId(`close-${count}`) }, []]
        : [{ type: "timers-due" }, []];
    default:
      return modelInput(tree, asStepKey(`${next() % 50}.${next() % 4}`), 1, next);
  }
}

/** One result in four is longer than what its agent's context takes of it. */
function toolInput(effect: StepKey, attempt: number, text: string, next: () => number): Choice {
  const failed = next() % 4 === 0 ? true : undefined;
  const long = next() % 4 === 0;
  const whole = `${text}${"z".repeat(1 + (next() % 50))}`;
  const given = next() % 2 === 0 ? 100_000_000 : undefined;
  const kept = { bytes: whole.length, sha256: sha256(whole), kept: text.length, given };
  return [
    { type: "tool-finished", effect, attempt, failed, size: text.length, ...(long ? { whole: kept } : {}) },
    long ? [text, whole] : [text],
  ];
}

function modelInput(tree: Tree, effect: StepKey, attempt: number, next: () => number): Choice {
  const usage = next() % 4 === 0 ? null : { input: 10 + (next() % 3_000), output: next() % 50 };
  if (next() % 7 === 0) {
    const code =
      (["provider-error", "context-overflow", "aborted", "refused", "reply-limit"] as const)[next() % 5] ??
      "provider-error";
    const retryable = next() % 2 === 0;
    return [
      {
        type: "model-failed",
        effect,
        attempt,
        code,
        retryable,
        usage,
        ...(next() % 2 === 0 ? { retryAfterMs: 5_000 } : {}),
      },
      ["it broke"],
    ];
  }
  const parts: Json[] = [];
  const facts: Record<string, CallFacts> = {};
  const said = next() % 3 > 0;
  if (said) parts.push({ type: "text", text: TEXTS[next() % TEXTS.length] ?? "" });
  for (let calls = next() % 4; calls > 0; calls -= 1) {
    if (next() % 6 === 0) facts[parts.length] = { problem: "it cannot be had" };
    else if (next() % 5 === 0) facts[parts.length] = { asks: true };
    parts.push({ type: "tool-call", id: `c${parts.length}`, ...chooseCall(tree, next) });
  }
  const stop = next() % 12 === 0 ? "refused" : "end";
  return [
    { type: "model-replied", effect, attempt, usage, stop, size: 10, ...(said ? { said: true } : {}), facts },
    [parts],
  ];
}

const TEXTS = ["fine", "NO_REPLY", "a <response>tagged</response> b", "", "<thinking>x</thinking>", "<say>hi</say>"];

/** Every fact of the journal, in order. */
export function factsOf(rows: readonly JournalRow[]): Fact[] {
  return rows.flatMap((row) => {
    const head = headRead(row.head);
    return head.rejected === undefined ? [head.input, ...(head.events ?? [])] : [];
  });
}
