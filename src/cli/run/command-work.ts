/** Work on trees on behalf of a command: chooses the display, and tells why it failed. */

import type { CommandCall } from "../command.ts";
import { chooseDisplays } from "../display/choose-display.ts";
import type { ExitCode } from "../exit-code.ts";
import { reportProblem } from "../problem.ts";
import { createColours } from "../text/colours.ts";
import { explainModel } from "./explain-model.ts";
import { type WorkRequest, workOnTrees } from "./work-on-trees.ts";

export async function commandWork({ options, host }: CommandCall, request: WorkRequest): Promise<ExitCode> {
  const json = options.json === true;
  const displays = chooseDisplays(json, request.begin.length, host);
  try {
    const { code, problem } = await workOnTrees(request, host, displays, json ? null : host.keys);
    const output = { err: host.err, colours: createColours(host.colours.err), debug: options.debug === true };
    if (problem !== null) reportProblem(problem, output);
    return code;
  } catch (thrown) {
    throw explainModel(thrown, request.model);
  }
}
