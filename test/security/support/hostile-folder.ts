/** A hostile folder on a real disk, and a runtime over the scripted model with the real tools in it. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type Errand, type PermissionRule, type Tool, workspaceTools } from "../../../src/index.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { createSystemWorld } from "../../../src/runtime/world.ts";
import { callTool, say } from "../../../src/testing/index.ts";
import { parentRequests, toolResults } from "../../support/model-requests.ts";
import { openTestErrand } from "../../support/test-errand.ts";

export const SECRET = "the-secret-words";

/** The folder `ws` in a new folder, so that a test may put files beside it. */
export function hostileFolder(files: Readonly<Record<string, string>> = {}): string {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "errand-hostile-")));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, "ws");
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function realTools(): Tool[] {
  return workspaceTools({ world: createSystemWorld(), environment: process.env });
}

export interface CallOutcome {
  /** The text that the model got; null while the call waits for an answer. */
  readonly text: string | null;
  readonly failed: boolean;
  readonly asked: boolean;
  readonly errand: Errand;
}

/** One call of a tool by the model, until it has a result or a question. `answer` answers the question. */
export async function callIn(
  folder: string,
  permissions: readonly PermissionRule[] | undefined,
  [name, input]: readonly [string, Json],
  { answer, before }: { readonly answer?: boolean; readonly before?: () => void } = {},
): Promise<CallOutcome> {
  const { errand, models } = await openTestErrand(
    { parent: [callTool(name, input), say("done")] },
    { workspace: folder, tools: realTools(), ...(permissions === undefined ? {} : { permissions }) },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  let asked = false;
  for await (const event of errand.journal(agent.id)) {
    if (event.facts.some(({ type }) => type === "question-asked")) {
      asked = true;
      if (answer === undefined) return { text: null, failed: false, asked, errand };
      before?.();
      const [question] = await errand.questions();
      await errand.answer(question?.id ?? "", { allow: answer });
    }
    if (event.facts.some((fact) => fact.type === "turn-ended" && fact.agent === 0)) break;
  }
  const result = toolResults(parentRequests(models)[1])[0];
  return { text: result?.text ?? "", failed: result?.failed ?? false, asked, errand };
}
