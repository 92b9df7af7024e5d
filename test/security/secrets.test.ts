/**
 * I28: a configured secret is in no store, export, event or stream, and its replacement text is written to no file.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createErrand, createModelRegistry, ModelFailure, workspaceTools } from "../../src/index.ts";
import { byContext, callTool, createMemoryChannel, createScriptedModels, say } from "../../src/testing/index.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { lookTool, openTestErrand, temporaryFolder } from "../support/test-errand.ts";

const KEY = "sk-ant-9f8e7d6c5b4a+/=x";
const MARK = "[redacted by Errand]";

/** Every form of the key that the text contains, with anything around it in base64. */
function leaks(bytes: Buffer | string): readonly string[] {
  const text = bytes.toString("latin1" as BufferEncoding);
  const encoded = ["", "a", "ab"].flatMap((before) => {
    const whole = Buffer.from(`${before}${KEY}`).toString("base64");
    return [whole.slice(before === "" ? 0 : 4, -4)];
  });
  return [KEY, encodeURIComponent(KEY), ...encoded].filter((form) => text.includes(form));
}

const everyForm = `${KEY} ${encodeURIComponent(KEY)} ${Buffer.from(`a:${KEY}!`).toString("base64")}`;

test("I28: a key that a user, a model, a tool, a provider and a definition write is neither recorded nor shown", async () => {
  const folder = temporaryFolder();
  const store = join(folder, "errand.db");
  const channel = createMemoryChannel();
  const streamed: string[] = [];
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([
        callTool("look", { at: everyForm }),
        callTool("start_background_agent", { task: `use ${everyForm}`, label: `label ${KEY}` }),
        say(`the key is ${everyForm}`),
        say("noted"),
        say("noted"),
      ]),
      child: () => {
        throw new ModelFailure("provider-error", `401 for ${everyForm}`);
      },
    },
    {
      store,
      secrets: [KEY],
      parent: { prompt: `You hold ${KEY}.` },
      projectContext: `The key is ${KEY}.`,
      tools: [lookTool(async () => ({ text: `saw ${everyForm}`, failed: false }))],
    },
  );
  errand.onText(({ text }) => streamed.push(text));
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait(`go with ${everyForm}`).catch(() => undefined);
  await agent.postAndAwait("and now?").catch(() => undefined);
  const exported: string[] = [];
  for await (const line of errand.export(agent.id)) exported.push(line);
  const shown = JSON.stringify([exported, streamed, channel.messages, await errand.listRuns(), models.requests]);
  expect(shown).toContain(MARK);
  expect(leaks(shown)).toEqual([]);
  await errand.close();
  for (const name of readdirSync(folder)) expect([name, leaks(readFileSync(join(folder, name)))]).toEqual([name, []]);
});

test("I28: keys of the registry are secrets without configuration", async () => {
  const world = createSystemWorld();
  const folder = temporaryFolder();
  const scripted = createScriptedModels({ "scripted/one": byContext([say(`it is ${KEY}`)]) });
  const errand = await createErrand({
    store: join(folder, "errand.db"),
    models: [scripted, createModelRegistry({ env: { GEMINI_API_KEY: KEY }, world })],
    model: "scripted/one",
  });
  const { reply } = await errand.start(`my key is ${KEY}`);
  expect((await reply()).text).toBe(`it is ${MARK}`);
  await errand.close();
  for (const name of readdirSync(folder)) expect([name, leaks(readFileSync(join(folder, name)))]).toEqual([name, []]);
});

test("a write or a command with the replacement text in its arguments is refused without a question", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".env"), `KEY=${KEY}\nPORT=1\n`);
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([
        callTool("read_file", { path: ".env" }),
        callTool("write_file", { path: ".env", content: `KEY=${MARK}\nPORT=2\n` }),
        callTool("run_command", { argv: ["echo", MARK] }),
        callTool("edit_file", { path: ".env", old_text: "PORT=1", new_text: "PORT=2" }),
        say("done"),
      ]),
    },
    {
      secrets: [KEY],
      workspace: folder,
      tools: workspaceTools({ world: createSystemWorld(), environment: process.env }),
      permissions: [
        { decision: "allow", tool: "read_file" },
        { decision: "allow", tool: "edit_file" },
      ],
    },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("raise the port");
  const results = models.requests.map((request) => JSON.stringify(request.messages.at(-1)));
  expect(results[1]).toContain(`KEY=${MARK}`);
  expect(results[2]).toContain("stands for a secret");
  expect(results[3]).toContain("stands for a secret");
  expect(readFileSync(join(folder, ".env"), "utf8")).toBe(`KEY=${KEY}\nPORT=2\n`);
});
