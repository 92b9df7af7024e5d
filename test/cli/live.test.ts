/** The live display and what can stop it, on a host that the test controls. */

import { expect, test } from "vitest";
import type { Display } from "../../src/cli/display/display.ts";
import { createLiveDisplay } from "../../src/cli/display/live.ts";
import type { Host } from "../../src/cli/host.ts";
import { watchStops } from "../../src/cli/running/stops.ts";
import { createTreeModel, newAgent, type TreeModel } from "../../src/view/tree-model.ts";
import { createFakeHost, type FakeHost } from "./support/fake-host.ts";
import { screenOf } from "./support/screen.ts";

function sampleModel(): TreeModel {
  const model = createTreeModel();
  model.tree = "tree";
  const root = newAgent({
    number: 0,
    id: "tree",
    parent: null,
    name: "root",
    definition: "root",
    price: null,
    offline: false,
  });
  model.agents.set(0, Object.assign(root, { turn: true, turns: 1, thinking: true, startedAt: 0 }));
  return model;
}

function liveOn(fake: FakeHost): Display {
  const { host } = fake;
  if (host.screen === null) throw new Error("the fake host has a screen");
  const display = createLiveDisplay(host, host.screen);
  display.begin({ model: "a/b", because: "so", store: "memory", recovered: 0 });
  display.changed(sampleModel(), [], () => host.world.monotonic());
  return display;
}

const SENT = { at: 0, cursor: "1.0", id: "1", agent: "tree", name: "root", repeated: false } as const;
const DRAWN = ["model a/b (because so) · store memory", "⠋ root  thinking", ""];

test("the cursor is restored at every kind of end", () => {
  const fake = createFakeHost();
  liveOn(fake);
  expect(screenOf(fake.written.out)).toMatchObject({ cursorVisible: false, wraps: false });
  fake.exit();
  expect(screenOf(fake.written.out)).toMatchObject({ cursorVisible: true, wraps: true });
});

test("the spinner and the times are updated, and nothing else is written", () => {
  const fake = createFakeHost();
  liveOn(fake);
  const before = fake.written.out.length;
  fake.tick();
  const { lines } = screenOf(fake.written.out);
  expect(lines[1]).toMatch(/^⠙ root {2}thinking +0\.1s$/);
  expect(lines[3]).toBe("0.1s · Ctrl-C cancels");
  expect(screenOf(fake.written.out.slice(before)).linesWritten).toBe(2);
});

test("Ctrl-Z restores the terminal, and continuing takes it back and draws again", () => {
  const fake = createFakeHost();
  liveOn(fake);
  fake.signal("SIGTSTP");
  expect(screenOf(fake.written.out).cursorVisible).toBe(true);
  fake.signal("SIGCONT");
  const { lines, cursorVisible } = screenOf(fake.written.out);
  expect(cursorVisible).toBe(false);
  expect(lines.filter((line) => line.startsWith(DRAWN[1] ?? ""))).toHaveLength(2);
});

test("a new width is used at once", () => {
  const fake = createFakeHost();
  liveOn(fake);
  fake.resize(14);
  const { lines } = screenOf(fake.written.out);
  for (const line of lines.slice(-4)) expect(line.length).toBeLessThan(14);
});

test("messages are printed above the tree without escape sequences; the last tree stays above the answer", () => {
  const fake = createFakeHost();
  const display = liveOn(fake);
  const said = { ...SENT, kind: "answer" } as const;
  display.message({ ...said, text: "I asked\u001b[2J a helper" }, false);
  display.message({ ...said, text: "the answer\u001b[1A" }, true);
  display.answer("I asked\u001b[2J a helper\n\nthe answer\u001b[1A");
  display.close();
  fake.tick();
  const { lines, cursorVisible } = screenOf(fake.written.out);
  expect(cursorVisible).toBe(true);
  expect(lines.map((line) => line.replace(/ +0\.\ds$/, ""))).toEqual([
    "model a/b (because so) · store memory",
    "root: I asked a helper",
    "⠋ root  thinking",
    "",
    "the answer",
    "",
  ]);
});

test("an answer from before the last turn is shown again below the last tree", () => {
  const fake = createFakeHost();
  const display = liveOn(fake);
  const said = SENT;
  display.message({ ...said, kind: "answer", text: "There are 42." }, false);
  display.message({ ...said, kind: "commentary", text: "I tidy up." }, false);
  display.answer("There are 42.");
  display.close();
  const { lines } = screenOf(fake.written.out);
  expect(lines.slice(1, 3)).toEqual(["root: There are 42.", "root: I tidy up."]);
  expect(lines.slice(-3)).toEqual(["", "There are 42.", ""]);
});

test("a message that a failed turn relays is shown, too", () => {
  const fake = createFakeHost();
  const display = liveOn(fake);
  display.message({ ...SENT, kind: "relay", text: "child: half is done" }, true);
  display.end({ code: 1, outcome: "failed", problem: null, model: sampleModel(), now: 0 });
  expect(screenOf(fake.written.out).lines).toContain("child: half is done");
});

function watching(timeoutMs: number | null = null): {
  fake: FakeHost;
  stops: ReturnType<typeof watchStops>;
  host: Host;
} {
  const fake = createFakeHost();
  return { fake, host: fake.host, stops: watchStops(fake.host, timeoutMs) };
}

test("the first Ctrl-C requests a stop, the second exits at once with 130", async () => {
  const { fake, stops } = watching();
  fake.signal("SIGINT");
  expect(await stops.first).toEqual({ type: "signal", signal: "SIGINT" });
  expect(fake.left).toEqual([]);
  fake.signal("SIGINT");
  expect(fake.left).toEqual([130]);
});

test("the first reason to stop counts, and later ones are ignored", async () => {
  const { fake, stops } = watching(1_000);
  fake.signal("SIGTERM");
  fake.tick();
  expect(await stops.first).toEqual({ type: "signal", signal: "SIGTERM" });
  stops.close();
  fake.signal("SIGINT");
  fake.signal("SIGINT");
  expect(fake.left).toEqual([]);
});

test("the work stops when its time is over", async () => {
  const { fake, stops } = watching(1_000);
  fake.tick();
  expect(await stops.first).toEqual({ type: "timeout" });
});
