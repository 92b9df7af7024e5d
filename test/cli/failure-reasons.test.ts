/** Failures are reported with the provider's own message. */

import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openaiCompatible } from "../models/wires/openai-chat.ts";
import { openWireServer, refuse, stream } from "../models/wires/wire-server.ts";
import { type Finished, projectFolder, records, runErrand, SLOW } from "./support/errand-process.ts";
import { calling } from "./support/model-server.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, project);
const WORDS = "Your credit is used up";

/** A server that refuses the children, or every caller, with an escape sequence and a very long text. */
async function refusing(everybody: boolean): Promise<readonly string[]> {
  const { url } = await openWireServer(async (exchange) => {
    if (everybody || exchange.body.includes("You are a child agent"))
      return refuse(exchange, 400, openaiCompatible.error(`\u001b[2J${WORDS}. ${"More. ".repeat(1_000)}`));
    const told = exchange.body.includes('"role":"tool"');
    const reply = told ? { text: "It failed." } : calling("subagent", { task: "count them" });
    await stream(exchange, openaiCompatible.frames(reply));
  });
  return ["--model", "openai-compatible/m", "--base-url", `${url}/v1`];
}

/** A port on which nothing listens. */
async function deadServer(): Promise<readonly string[]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  return ["--model", "openai-compatible/m", "--base-url", `http://127.0.0.1:${port}/v1`];
}

function harmless(...texts: string[]): void {
  for (const text of texts) {
    expect(text).not.toContain("\u001b");
    for (const line of text.split("\n")) expect(line.length).toBeLessThan(1_200);
  }
}

describe("a run whose provider refuses", () => {
  test("show, result, logs and the line of its end have the provider's message", async () => {
    const options = await refusing(false);
    const run = await errand("run", ...options, "how many?");
    expect(run).toMatchObject({ code: 0, out: "It failed.\n" });
    expect(run.err).toMatch(new RegExp(`^worker ".+" ended: error, provider-error: .+400.+${WORDS}`, "m"));
    const [tree] = records((await errand("ps", "--all", "--json")).out);
    const lines = records((await errand("show", "--json", String(tree?.["id"]))).out);
    const id = String(lines.find(({ type }) => type === "run")?.["id"]);

    const result = await errand("result", id);
    expect(result.err).toMatch(new RegExp(`^worker ".+" ended: error, provider-error: .+${WORDS}`));
    expect(result.code).toBe(1);
    const json = await errand("result", "--json", id);
    expect(records(json.out)[0]).toMatchObject({ status: "error", error: expect.stringContaining(WORDS) });
    expect(json.code).toBe(1);

    const shown = await errand("show", id);
    expect(shown.out).toMatch(new RegExp(`^error: .+${WORDS}`, "m"));
    expect(shown.code).toBe(0);
    expect(records((await errand("show", "--json", id)).out)[0]).toMatchObject({
      error: expect.stringContaining(WORDS),
    });
    const whole = await errand("show", String(tree?.["id"]));
    expect(whole.out).toMatch(new RegExp(`^"count them": error, provider-error: .+${WORDS}`, "m"));

    const logs = await errand("logs", id);
    expect(logs.out).toMatch(new RegExp(`model-failed +count them: provider-error: .+${WORDS}`));
    expect(logs.out).toMatch(new RegExp(`run-ended +"count them": error, provider-error .+: .+${WORDS}`));
    harmless(run.err, result.err, shown.out, whole.out, logs.out);
  });

  test("a failed turn prints it, and show prints it", async () => {
    const options = await refusing(true);
    const { code, err } = await errand("run", ...options, "how many?");
    expect(err).toMatch(new RegExp(`^error: The turn ended without an answer \\(provider-error\\): .+${WORDS}`, "m"));
    expect(code).toBe(1);
    const [tree] = records((await errand("ps", "--all", "--json")).out);
    const shown = await errand("show", String(tree?.["id"]));
    expect(shown.out).toMatch(new RegExp(`^the last turn of orchestrator: failed, provider-error: .+${WORDS}`, "m"));
    const result = await errand("result", String(tree?.["id"]));
    expect(result.err).toContain(WORDS);
    expect(result.code).toBe(1);
    harmless(err, shown.out, result.err);
  });
});

test("with a dead model server the hint names the cause and does not suggest more time", async () => {
  const options = await deadServer();
  const { code, err } = await errand("run", ...options, "--timeout", "2", "how many?");
  expect(err).toMatch(
    /^orchestrator: the model failed, attempt 2 in .+: openai-compatible\/m could not be reached: .+/m,
  );
  const last = err.trimEnd().split("\n").slice(-2);
  expect(last[0]).toMatch(
    /^error: The task did not end within 2\.0s, because the model fails: .+reached.+turn-timeout/,
  );
  expect(last[1]).toContain("errand doctor");
  expect(err).not.toContain("Give it more time");
  expect(code).toBe(3);
});

test("with a slow model the hint suggests more time", async () => {
  const args = ["run", "--model", "slow/60000", "--timeout", "0.3", "x"];
  const { err } = await runErrand(args, { ...project, entry: SLOW });
  expect(err).toMatch(/more time with --timeout SECONDS/);
});
