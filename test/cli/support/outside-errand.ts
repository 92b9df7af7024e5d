/**
 * The real program with a runner `marking`, which writes `settings.command` into the file `ran.txt` of the workspace
 * for each session that it starts, and asks the user if `settings.asks` is a question.
 */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createProcessHost } from "../../../src/cli/process-host.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { type Json, jsonObjectIs } from "../../../src/core/values/json.ts";
import { createScriptedRunner } from "../../../src/testing/index.ts";
import { showingProvider } from "./showing-models.ts";

const settingOf = (value: Json, name: string): string => {
  const setting = jsonObjectIs(value) ? value[name] : undefined;
  return typeof setting === "string" ? setting : "";
};

const runner = createScriptedRunner(
  async ({ request, events, next }) => {
    const { value, origin } = request.settings;
    appendFileSync(join(request.workspace, "ran.txt"), `${origin} ${settingOf(value, "command")}\n`);
    events.progress({ text: "looking around" });
    const question = settingOf(value, "asks");
    if (question === "") return events.ended({ status: "ok", report: { text: "it ran" } });
    events.question({ id: "q", text: question });
    const message = await next();
    events.ended({ status: "ok", report: { text: message.type === "answer" ? `told ${message.text}` : "?" } });
  },
  { name: "marking" },
);

const host = createProcessHost();
host.end(await runProgram(process.argv.slice(2), host, { models: () => [showingProvider], runners: [runner] }));
