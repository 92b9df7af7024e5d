/** A short soak of every test run, and proof that a soak can fail. A long one: `npm run soak -- --minutes 30`. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectedMessages, expectedTokens } from "../crash/reference.ts";
import { SOAK_FAULTS } from "./faults.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { DESCRIPTOR_SLACK, growthOf, HEAP_SLACK } from "./levels.ts";
import { createPlace, type SoakPlace } from "./places.ts";
import { soak } from "./soak.ts";

const SLOW_MS = 180_000;
let place: SoakPlace;
beforeEach(async () => {
  place = await createPlace("sqlite");
});
afterEach(() => place.remove());

test(
  "a short soak: nothing is lost, doubled, stuck or leaked, and every sampled journal is proven",
  async () => {
    const result = await soak({ place, seconds: 15, faults: SOAK_FAULTS });
    expect(result.findings).toEqual([]);
    expect(result.kills).toBeGreaterThan(0);
    expect(result.locks).toBeGreaterThan(0);
    expect(result.probes).toBeGreaterThan(3);
    expect(result.released).toBeGreaterThan(0);
    if (place.disk !== null) expect(result.fullDisks).toBeGreaterThan(0);
    expect(result.proven).toBeGreaterThan(5);
  },
  SLOW_MS,
);

test(
  "a listener that leaks memory and descriptors is found",
  async () => {
    const { findings } = await soak({ place, seconds: 10, faults: [], leaks: true, width: 8 });
    expect(findings).toContainEqual(expect.stringMatching(/^the heap grew from/));
    expect(findings).toContainEqual(expect.stringMatching(/^descriptors grew from/));
  },
  SLOW_MS,
);

describe("the ledger", () => {
  const [working = "", answer = "", nothing = ""] = expectedMessages("conversation-1");
  /** A conversation that went as it should, but for what is done to it. */
  const found = (change: (ledger: Ledger) => void, struck: readonly string[] = []): readonly string[] => {
    const ledger = createLedger();
    ledger.begin(0);
    ledger.opened(1, "tree");
    for (const text of [working, answer]) ledger.delivered("tree", text, text, false, 1);
    ledger.answered(1, "go", working, 2);
    ledger.answered(1, "more", nothing, 2);
    change(ledger);
    ledger.judge(struck);
    return ledger.findings;
  };
  const whole = (ledger: Ledger): void => ledger.delivered("tree", "last", nothing, false, 3);

  test("a conversation that went as it should", () => {
    expect(found(whole, expectedTokens("conversation-1"))).toEqual([]);
  });

  test("a conversation without its last message has not ended", () => {
    found((ledger) => expect(ledger.stuck(1)).toHaveLength(1));
    found((ledger) => {
      whole(ledger);
      expect(ledger.stuck(1)).toHaveLength(0);
    });
  });

  test.each<[string, (ledger: Ledger) => void]>([
    ["a message that comes under two ids", (ledger) => ledger.delivered("tree", "other", answer, false, 3)],
    ["a message that comes again unmarked", (ledger) => ledger.delivered("tree", answer, answer, false, 3)],
    ["a message that changes", (ledger) => ledger.delivered("tree", answer, "other words", true, 3)],
    ["a message of nobody", (ledger) => ledger.delivered("other tree", "id", answer, false, 3)],
    ["an answer that changes", (ledger) => ledger.answered(1, "go", "other words", 3)],
  ])("%s is found", (_, change) => {
    const findings = found((ledger) => {
      change(ledger);
      whole(ledger);
    });
    expect(findings).toHaveLength(1);
  });

  test("a message that comes again marked is not found", () => {
    const again = (ledger: Ledger): void => {
      ledger.delivered("tree", answer, answer, true, 3);
      whole(ledger);
    };
    expect(found(again)).toEqual([]);
  });

  test("an unsafe call that was executed twice is found", () => {
    const [token = ""] = expectedTokens("conversation-1");
    expect(found(whole, [token, token])).toHaveLength(1);
  });
});

test("levels are flat within a tenth or the slack", () => {
  expect(growthOf([10, 10, 11, 11, 15, 15], DESCRIPTOR_SLACK).flat).toBe(true);
  expect(growthOf([10, 10, 11, 11, 16, 16], DESCRIPTOR_SLACK).flat).toBe(false);
  expect(growthOf([1e8, 1e8, 1e8, 1e8, 1.09e8, 1.09e8], HEAP_SLACK).flat).toBe(true);
  expect(growthOf([1e8, 1e8, 1e8, 1e8, 1.12e8, 1.12e8], HEAP_SLACK).flat).toBe(false);
});

test("a wrong option is said in two lines", () => {
  const command = fileURLToPath(new URL("./main.ts", import.meta.url));
  for (const args of [
    ["--fault", "flood"],
    ["--minutes", "soon"],
    ["--seconds", "0"],
    ["--hours", "1"],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: "utf8" });
    expect({ status, lines: stderr.trim().split("\n").length }).toEqual({ status: 2, lines: 2 });
  }
});
