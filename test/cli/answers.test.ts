/** What `errand run` prints as the answer (rule D13), over a real HTTP model server. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Finished, projectFolder, records, runErrand, startErrand } from "./support/errand-process.ts";
import { calling, openModelServer } from "./support/model-server.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, project);
const report = (text: string): ReturnType<typeof calling> => calling("send_agent_message", { text, final: true });
const started = { task: "count them", label: "counter" };

/** The messages and the answer in the last line of `--json`. */
function ended(out: string): { readonly messages: readonly (readonly string[])[]; readonly answer: unknown } {
  const { messages, answer } = records(out).at(-1) as { messages: { kind: string; text: string }[]; answer: unknown };
  return { messages: messages.map(({ kind, text }) => [kind, text]), answer };
}

describe("a background child that writes to the user", () => {
  /** The child reports only after the root has handled its message. */
  function server(text: string): ReturnType<typeof openModelServer> {
    const presented = Promise.withResolvers<void>();
    return openModelServer(
      (asked) => {
        if (asked.text.includes("<findings")) return { text: "There are 42." };
        if (asked.body.includes("<message_for_user origin")) {
          presented.resolve();
          return { text };
        }
        return asked.role === "tool" ? { text: "Started." } : calling("start_background_agent", started, "I will ask.");
      },
      async (asked) => {
        if (asked.role === "user") return calling("send_user_message", { text: "half is done" });
        await presented.promise;
        return report("42");
      },
    );
  }

  test("standard output has the last text of every turn, in order, and nothing else", async () => {
    const { options } = await server("It is half done.");
    const { code, out, err } = await errand("run", ...options, "how many?");
    expect(out).toBe("Started.\n\nIt is half done.\n\nThere are 42.\n");
    expect(err).toMatch(/^orchestrator: I will ask\.$/m);
    expect(err).not.toContain("It is half done.");
    expect(code).toBe(0);
  });

  test("--json: each message has its kind, and the answer is the same", async () => {
    const { options } = await server("It is half done.");
    const { out } = await errand("run", "--json", ...options, "how many?");
    const answer = "Started.\n\nIt is half done.\n\nThere are 42.";
    expect(ended(out)).toEqual({
      messages: [
        ["commentary", "I will ask."],
        ["answer", "Started."],
        ["answer", "It is half done."],
        ["answer", "There are 42."],
      ],
      answer,
    });
    const lines = records(out);
    expect(
      out
        .split("\n")
        .slice(0, -1)
        .every((line) => line.startsWith('{"v":1,"type":"')),
    ).toBe(true);
    expect(lines.filter((line) => line["type"] === "message").map((line) => line["kind"])).toEqual([
      "commentary",
      "answer",
      "answer",
      "answer",
    ]);
    expect(lines.at(-2)).toMatchObject({ type: "answer", text: answer });
  });

  test("a message that the agent does not present is relayed and becomes part of the answer", async () => {
    const { options } = await server("NO_REPLY");
    const { out } = await errand("run", ...options, "how many?");
    expect(out).toBe("Started.\n\ncounter: half is done\n\nThere are 42.\n");
    const tree = String(records((await errand("ps", "--all", "--json")).out)[0]?.["id"]);
    expect((await errand("result", tree)).out).toBe(out);
  });
});

test("with an awaited child that writes to the user, the turn's last text is the answer", async () => {
  const { options } = await openModelServer(
    (asked) =>
      asked.role === "user" && !asked.body.includes("<message_for_user origin")
        ? calling("subagent", { task: "count them" }, "Let me ask.")
        : { text: "There are 42, and it was easy." },
    (asked) => (asked.role === "user" ? calling("send_user_message", { text: "easy" }) : report("42")),
  );
  const { out, err } = await errand("run", ...options, "how many?");
  expect(out).toBe("There are 42, and it was easy.\n");
  expect(err).toMatch(/^orchestrator: Let me ask\.$/m);
});

test("an ad-hoc note of a child does not hide the answer", async () => {
  const { options } = await openModelServer(
    (asked) => {
      if (asked.text.includes("first half")) return { text: "A first note came." };
      if (asked.text.includes("second half")) return { text: "There are 42." };
      if (asked.text.includes("<system_message")) return { text: "NO_REPLY" };
      return asked.role === "tool"
        ? { text: "NO_REPLY" }
        : calling("start_background_agent", { ...started, announce: "each" });
    },
    (asked) => (asked.role === "user" ? calling("send_agent_message", { text: "first half" }) : report("second half")),
  );
  const { out } = await errand("run", ...options, "how many?");
  expect(out).toMatch(/There are 42\.\n$/);
  expect(out).not.toContain("NO_REPLY");
});

test("a batch that is announced in two parts has both parts in the answer", async () => {
  const told = Promise.withResolvers<void>();
  const { options } = await openModelServer(
    (asked) => {
      if (asked.text.includes("still running")) {
        told.resolve();
        return { text: "The first found 1." };
      }
      if (asked.text.includes("<findings")) return { text: "The second found 2." };
      if (asked.role === "tool") return { text: "NO_REPLY" };
      const calls = ["first", "second"].map((task) => ({
        id: `call_${task}`,
        name: "start_background_agent",
        arguments: JSON.stringify({ task }),
      }));
      return { calls };
    },
    async (asked) => {
      if (asked.text.includes("first")) return report("1");
      await told.promise;
      return report("2");
    },
  );
  await errand("config", "set", "limits.barrierSeconds", "1");
  const { out } = await errand("run", ...options, "how many?");
  expect(out).toBe("The first found 1.\n\nThe second found 2.\n");
});

describe("an agent that writes no answer", () => {
  test("leaves standard output empty and prints a note", async () => {
    const { options } = await openModelServer(() => ({ text: "NO_REPLY" }));
    const { code, out, err } = await errand("run", ...options, "be quiet");
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toContain("(the agent decided to say nothing)");
    expect(ended((await errand("run", "--json", ...options, "be quiet")).out)).toEqual({ messages: [], answer: null });
  });

  test("but wrote something earlier: the earlier text is the answer", async () => {
    const { options } = await openModelServer(
      (asked) => {
        if (asked.text.includes("<findings")) return { text: "NO_REPLY" };
        return asked.role === "tool" ? { text: "I looked: 42." } : calling("start_background_agent", started);
      },
      () => report("42"),
    );
    expect((await errand("run", ...options, "how many?")).out).toBe("I looked: 42.\n");
  });
});

describe("a tree that is resumed", () => {
  /** Trees whose process was killed while the child worked; the child continues when it is released. */
  async function killed(
    tasks: readonly string[],
  ): Promise<{ readonly trees: string[]; readonly options: readonly string[]; go(): void }> {
    const go = Promise.withResolvers<void>();
    const { options } = await openModelServer(
      (asked) => {
        const [task = ""] = /task (one|two)/.exec(asked.body) ?? [];
        if (asked.text.includes("<findings")) return { text: `Found by ${task}.` };
        return asked.role === "tool" ? { text: `Started ${task}.` } : calling("start_background_agent", started, "Hm.");
      },
      async () => {
        await go.promise;
        return report("42");
      },
    );
    const trees: string[] = [];
    for (const task of tasks) {
      const running = startErrand(["run", "--json", ...options, task], project);
      await running.seen('"draining"');
      await running.seen('"Started');
      running.kill("SIGKILL");
      trees.push(String(records((await running.finished).out)[0]?.["tree"]));
    }
    return { trees, options: options.slice(2), go: go.resolve };
  }

  test("prints the new part of the answer; `result` prints the whole answer", async () => {
    const { trees, options, go } = await killed(["task one"]);
    go();
    const { code, out } = await errand("resume", ...options);
    expect(out).toMatch(/^(Started task one\.\n\n)?Found by task one\.\n$/);
    expect(code).toBe(0);
    expect((await errand("result", trees[0] ?? "")).out).toBe("Started task one.\n\nFound by task one.\n");
  });

  test("with several trees, the parts of each answer stay together", async () => {
    const { options, go } = await killed(["task one", "task two"]);
    go();
    const { out } = await errand("resume", ...options);
    const part = (name: string): string => `(Started task ${name}\\.\\n\\n)?Found by task ${name}\\.\\n`;
    expect(out).toMatch(new RegExp(`^(${part("one")}\\n${part("two")}|${part("two")}\\n${part("one")})$`));
  });
});

test("a turn that fails at the end still prints the earlier text, and the exit code shows the failure", async () => {
  const { options } = await openModelServer(
    (asked) => {
      if (asked.text.includes("<findings")) return { text: "half of it", stop: "refused" };
      return asked.role === "tool" ? { text: "Started." } : calling("start_background_agent", started);
    },
    () => report("42"),
  );
  const { code, out } = await errand("run", ...options, "how many?");
  expect({ code, out }).toEqual({ code: 1, out: "Started.\n" });
  const json = await errand("run", "--json", ...options, "how many?");
  expect(ended(json.out)).toEqual({ messages: [["answer", "Started."]], answer: "Started." });
  expect(records(json.out).map((line) => line["type"])).not.toContain("answer");
});

test("chat without a terminal gives the same answer for a line", async () => {
  const { options } = await openModelServer(
    (asked) => {
      if (asked.text.includes("<findings")) return { text: "There are 42." };
      return asked.role === "tool" ? { text: "Started." } : calling("start_background_agent", started, "Hm.");
    },
    () => report("42"),
  );
  const { out, err } = await runErrand(["chat", ...options], { ...project, input: "how many?\nand now?\n" });
  const answer = "Started.\n\nThere are 42.\n";
  expect(out).toBe(answer + answer);
  expect(err).toMatch(/^orchestrator: Hm\.$/m);
});
