/** Work on trees on behalf of a command: chooses the displays, and reports why the work failed. */

import type { CommandCall } from "../command.ts";
import { createJsonDisplay } from "../display/jsonl.ts";
import { createLiveDisplay } from "../display/live.ts";
import { createAnswerOutput, createPlainDisplay } from "../display/plain.ts";
import type { ExitCode } from "../exit-code.ts";
import { reportProblem } from "../problem.ts";
import { explainModel } from "./explain-model.ts";
import { type WorkRequest, workOnTrees } from "./work-on-trees.ts";

export async function commandWork({ options, host }: CommandCall, request: WorkRequest): Promise<ExitCode> {
  const json = options.json === true;
  const several = request.begin.length > 1;
  const output = createAnswerOutput(host);
  const displays = request.begin.map(() => {
    if (json) return createJsonDisplay(host);
    // Only one tree can be drawn; several are lines.
    if (host.screen !== null && !several) return createLiveDisplay(host, host.screen);
    return createPlainDisplay(host, output, several);
  });
  try {
    const { code, problem } = await workOnTrees(request, host, displays, json ? null : host.keys);
    if (problem !== null) reportProblem(problem, host, options.debug === true);
    return code;
  } catch (thrown) {
    throw explainModel(thrown, request.model);
  }
}
