import { describe, expect, test } from "vitest";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { newestUserText, occurrences, requestText, toolText } from "../support/model-requests.ts";
import { delegationCall, MODES, NUDGE_TAG, NUDGE_TOOL, runDelegation } from "../support/run-delegation.ts";
import { report } from "../support/scripted-replies.ts";
import { eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";

const tag = { child: { reporting: "tag" } } as const;
const NO_RESPONSE = "Error: subagent did not produce a response.";

describe.each(MODES)("%s", (mode) => {
  test.each([
    ["Some preamble <response>The actual answer</response> trailing", "The actual answer"],
    [
      "text <response>outer <response>inner</response> middle</response> end",
      "outer <response>inner</response> middle",
    ],
    ['<rEsPoNsE foo="bar">content</RESPONSE>', "content"],
    ["<response>\n  two\n lines \n</response>", "two\n lines"],
  ])("B3: of the final reply %j the response text is %j", async (words, expected) => {
    const { child, run, delivered, errand } = await runDelegation(mode, [say(words)], tag);
    expect(child).toHaveLength(1);
    expect(run).toMatchObject({ status: "ok", reason: null, report: "tag", nudged: false });
    expect(await errand.result(run.id)).toBe(expected);
    if (mode === "awaited")
      expect(JSON.parse(delivered)).toMatchObject({ success: true, summary: expected, report: "tag" });
    else expect(delivered).toContain('"the task" completed successfully.');
  });

  test("B3: an empty response is empty, not missing", async () => {
    const { child, run, errand } = await runDelegation(mode, [say("all done <response> </response>")], tag);
    expect(child).toHaveLength(1);
    expect(run).toMatchObject({ status: "ok", report: "tag", nudged: false });
    expect(await errand.result(run.id)).toBe("");
  });

  test("B3: the journal keeps the model's words unchanged, and the parent sees the response alone", async () => {
    const words = "thoughts <response>answer</response> more thoughts";
    const { events, delivered } = await runDelegation(mode, [say(words)], tag);
    expect(events.some((event) => JSON.stringify(event.texts).includes(words))).toBe(true);
    expect(delivered).toContain("answer");
    expect(delivered).not.toContain("thoughts");
  });

  test("B4: a child that forgot the tag gets the exact nudge once, as a message of its own", async () => {
    const { child, run, facts, errand } = await runDelegation(
      mode,
      [say("plain"), say("<response>tagged</response>")],
      tag,
    );
    expect(child).toHaveLength(2);
    expect(child[1]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TAG });
    expect(factsOfType(facts, "nudge-given")).toHaveLength(1);
    expect(run).toMatchObject({ status: "ok", reason: null, report: "tag", nudged: true });
    expect(await errand.result(run.id)).toBe("tagged");
  });

  test("B4: a missing tag after the nudge ends in error, no-report, with text and labelled salvage", async () => {
    const { child, run, delivered, errand } = await runDelegation(mode, [say("plain"), say("plain again")], tag);
    expect(child).toHaveLength(2);
    expect(run).toMatchObject({ status: "error", reason: "no-report", report: "salvaged", nudged: true });
    const result = await errand.result(run.id);
    for (const text of [
      result,
      mode === "awaited" ? (JSON.parse(delivered) as { summary: string }).summary : delivered,
    ]) {
      expect(occurrences(text, "plain again")).toBe(1);
      expect(text).toMatch(/Error: subagent did not produce a response\.\n\n[^\n]+:\nplain\n\nplain again/);
    }
    expect(result.startsWith(NO_RESPONSE)).toBe(true);
    if (mode === "awaited") {
      expect(JSON.parse(delivered)).toMatchObject({
        success: false,
        error: NO_RESPONSE,
        reason: "no-report",
        timed_out: false,
      });
    } else
      expect(delivered.split("\n")[0]).toBe('Background task "the task" failed: subagent did not produce a response.');
  });

  test("B4: with nothing to salvage the response text is the error alone", async () => {
    const { run, delivered, errand } = await runDelegation(mode, [say(""), say("<thinking>hm</thinking>")], tag);
    expect(run).toMatchObject({ status: "error", reason: "no-report", report: "missing", nudged: true });
    expect(await errand.result(run.id)).toBe(NO_RESPONSE);
    if (mode === "awaited") expect(JSON.parse(delivered)).toMatchObject({ summary: NO_RESPONSE });
  });

  test("B0: in a tag run a send to the parent is delivered, is no report and does not prevent the nudge", async () => {
    const { child, facts, errand, root } = await runDelegation(
      mode,
      [report("by the way"), say("plain"), say("still plain")],
      tag,
    );
    await eventsUntilFacts(errand, root, "run-ended");
    const [run] = await errand.listRuns();
    expect(JSON.parse(toolText(child[1]))).toMatchObject({ status: "sent", report: false });
    expect(child[2]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TAG });
    expect(requestText(child[2])).not.toContain(NUDGE_TOOL);
    expect(factsOfType(facts, "message-sent")).toHaveLength(1);
    expect(run).toMatchObject({ status: "error", reason: "no-report" });
  });

  test("B0: NO_REPLY is not a response", async () => {
    const { child, run } = await runDelegation(mode, [say("NO_REPLY"), say("NO_REPLY")], tag);
    expect(child[1]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TAG });
    expect(run).toMatchObject({ status: "error", reason: "no-report" });
  });

  test("B3: a tag in a reply with a tool call is not the final one", async () => {
    const { child, run, errand } = await runDelegation(
      mode,
      [
        {
          kind: "reply",
          parts: [
            { type: "text", text: "<response>early</response>" },
            { type: "tool-call", name: "look", input: {} },
          ],
        },
        say("<response>final</response>"),
      ],
      tag,
    );
    expect(child).toHaveLength(2);
    expect(run).toMatchObject({ report: "tag", nudged: false });
    expect(await errand.result(run.id)).toBe("final");
  });
});

test("B0: a tag run's ad-hoc message reaches the parent once, besides the announcement", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: (_request, { replies }) => (replies === 0 ? delegationCall("background") : say(`line ${replies}`)),
      child: byContext([report("by the way"), say("<response>answer</response>")]),
    },
    tag,
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(3));
  const parent = models.model("scripted/parent").requests;
  const [run] = await errand.listRuns();
  expect(
    parent.filter((request) => newestUserText(request).startsWith(`<system_message origin="${run?.agent}">`)),
  ).toHaveLength(1);
  expect(occurrences(requestText(parent.at(-1)), "by the way")).toBe(1);
  expect(parent.filter((request) => newestUserText(request).includes("<findings"))).toHaveLength(1);
});

test("B0: the protocol of a run is fixed when it is spawned", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: (_request, { replies }) =>
        replies === 0 ? callTool("subagent", { task: "the task", agent: "worker" }) : say("end"),
      child: [say("<response>x</response>")],
    },
    tag,
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  expect(models.model("scripted/child").requests[0]?.system).toContain("<response>...</response>");
  expect((await errand.listRuns())[0]).toMatchObject({ report: "tag" });
});
