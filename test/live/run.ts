/**
 * `npm run test:live [-- --model provider/name]`: tests reporting, the nudge and a message for the user on a real
 * model, which costs money. The model is `--model`, else ERRAND_MODEL, else the default of the provider whose key is
 * set. Without a model it prints a notice.
 *
 * Exit codes: 0 passed or nothing was tested, 1 a test failed, 2 wrong use or an unavailable model.
 */

import { createErrand, createModelRegistry, createSystemWorld, ErrandError } from "../../src/index.ts";
import { modelOfKeys } from "../../src/models/registry/default-model.ts";
import { firstOf, MODEL_SOURCES } from "../../src/models/registry/model-sources.ts";
import { ATTEMPTS } from "./attempts.ts";
import { commandOptions } from "../support/command-options.ts";

const SKIPPED = `
############################################################
##  SKIPPED: nothing was tried on a real model.           ##
############################################################
There is no key in the environment. Set one of
  ${MODEL_SOURCES.filter(({ keyNeeded }) => keyNeeded)
    .flatMap(({ keys }) => keys)
    .filter((key, index, all) => all.indexOf(key) === index)
    .join(", ")}
or name a model that needs none: npm run test:live -- --model ollama/NAME
`;

async function main(): Promise<number> {
  const values = commandOptions(
    {
      name: "npm run test:live --",
      does: "Sends a few errands on a real model, which costs some thousand tokens. Without a key it says so and ends.",
      examples: ["--model anthropic/claude-haiku-4-5"],
    },
    { model: { kind: "text", help: "Default: what ERRAND_MODEL names, else that of the first key." } },
  );
  const { env } = process;
  const model = values.model ?? firstOf(env, ["ERRAND_MODEL"])?.value ?? modelOfKeys(env)?.model;
  if (model === undefined) {
    process.stdout.write(SKIPPED);
    return 0;
  }
  process.stdout.write(`On ${model}:\n`);
  let failed = 0;
  for (const attempt of ATTEMPTS) {
    const world = createSystemWorld();
    const errand = await createErrand({
      store: "memory",
      models: [createModelRegistry({ env, world })],
      world,
      model,
      tools: [],
    });
    try {
      const problems = await attempt.try(errand);
      if (problems.length > 0) failed += 1;
      process.stdout.write(`${problems.length === 0 ? "ok    " : "FAILED"} ${attempt.name}\n`);
      for (const problem of problems) process.stdout.write(`       ${problem}\n`);
    } finally {
      await errand.close({ withinMs: 0 });
    }
  }
  process.stdout.write(`${ATTEMPTS.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const usage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!usage && !(error instanceof ErrandError)) throw error;
  process.stderr.write(`test:live: ${error.message.split("\n").join(" ")}\n`);
  process.exitCode = 2;
}
