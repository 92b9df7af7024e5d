/** The lines of `errand run --json` are the events that the library gives for the same tree. */

import { expect, test } from "vitest";
import { createJsonDisplay } from "../../src/cli/display/jsonl.ts";
import { createFollowing } from "../../src/cli/running/follow-tree.ts";
import type { StreamEvent } from "../../src/index.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { callTool } from "../../src/testing/index.ts";
import { startSeveral } from "../support/scripted-replies.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { records } from "./support/errand-process.ts";

type Line = Readonly<Record<string, unknown>>;

/** The events without live text, whose pieces may be joined, and the whole text of each agent. */
function told(events: readonly Line[]): { readonly events: Line[]; readonly texts: Readonly<Record<string, string>> } {
  const texts: Record<string, string> = {};
  for (const { type, name, text } of events)
    if (type === "text") texts[String(name)] = (texts[String(name)] ?? "") + String(text);
  return { events: events.filter(({ type }) => type !== "text"), texts };
}

test("they have the same fields, cursors and texts", async () => {
  const { errand } = await openTestErrand(
    {
      parent: [startSeveral(["look", "read"]), "Two helpers look.", "They found it.", "All of it."],
      child: [callTool("look", {}), "I see.", callTool("look", {}), "I see, too."],
    },
    {},
  );
  let out = "";
  const following = createFollowing(createSystemWorld(), createJsonDisplay({ out: (text) => void (out += text) }));
  const { agent } = await errand.start("where is it?", { channel: following.channel });
  const given: StreamEvent[] = [];
  const reading = (async () => {
    for await (const event of errand.events(agent.id)) {
      given.push(event);
      if (
        event.type === "turn-ended" &&
        event.agent === agent.id &&
        given.filter(({ type }) => type === "run-ended").length === 2
      )
        break;
    }
  })();
  await following.follow(errand, { tree: agent.id, past: 0, begun: ({ seq }) => seq > 2, unattended: true });
  await reading;
  const lines = records(out).filter(({ type }) => type !== "draining");
  const [printed, library] = [told(lines), told(given.map((event): Line => ({ ...event })))];
  // A message is printed once its channel has delivered it, which may be after the next event.
  const place = ({ cursor }: Line): number => {
    const [seq = "9999", index = "0"] = typeof cursor === "string" ? cursor.split(".") : [];
    return Number(seq) * 1_000 + Number(index);
  };
  const sorted = printed.events.toSorted((one, other) => place(one) - place(other));
  const plain = sorted.map(({ repeated: _repeated, ...line }) => line);
  expect(plain).toEqual([...library.events, { type: "rest", tree: agent.id }]);
  expect(printed.texts["orchestrator"]).toContain("They found it.");
  expect(Object.keys(printed.texts).length).toBeGreaterThan(1);
  const names = new Set(printed.events.map(({ type }) => type));
  for (const type of [
    "run-created",
    "run-started",
    "run-ended",
    "tool-started",
    "tool-ended",
    "usage",
    "message",
    "rest",
  ])
    expect(names).toContain(type);
});

test("an agent with `say` has messages, and no pieces of text", async () => {
  const reply = "thinking <say>Hello.</say> more <say>Bye.</say>";
  const { errand } = await openTestErrand({ parent: [reply] }, { parent: { say: true } });
  let out = "";
  const following = createFollowing(createSystemWorld(), createJsonDisplay({ out: (text) => void (out += text) }));
  const { agent } = await errand.start("hello", { channel: following.channel });
  await following.follow(errand, { tree: agent.id, past: 0, begun: ({ seq }) => seq > 2, unattended: true });
  const lines = records(out);
  expect(lines.filter(({ type }) => type === "text")).toEqual([]);
  expect(lines.filter(({ type }) => type === "message").map(({ text }) => text)).toEqual(["Hello.", "Bye."]);
  expect(out).not.toContain("thinking");
});
