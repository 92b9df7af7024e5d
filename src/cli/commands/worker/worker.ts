/** `errand worker`: takes trees of a shared database until it is stopped. */

import { ErrandError } from "../../../errors.ts";
import { createErrand, workerName } from "../../../runtime/create-runtime.ts";
import { postgresUrlIs, storeName } from "../../../stores/store-url.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { DEFAULT_AGENT, folderDefinitions } from "../../definitions/folder-definitions.ts";
import { printDefinitionNotices } from "../../definitions/definition-notices.ts";
import { jsonLine, problemRecord } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { problemOf, noticeLines, reportProblem } from "../../problem.ts";
import { agentOptions } from "../../running/agent-options.ts";
import { chooseModel, requireBaseUrlFits } from "../../running/choose-model.ts";
import { type Stop, watchStops } from "../../running/stops.ts";
import { terminalLine } from "../../text/terminal-text.ts";

/** How long running work may take to end when the worker is stopped. Other workers continue the rest. */
const CLOSE_WITHIN_MS = 5_000;
/** Failures of the store itself. Any other failure affects one tree, and the other trees continue. */
const FATAL: ReadonlySet<string> = new Set(["store-failed", "store-unreadable", "store-refused", "store-closed"]);

export const workerCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const store = requireDatabase(call);
  const agents = agentOptions(call);
  const definitions = await folderDefinitions(call, agents.tools, ({ model }) => model);
  const { model, because } = await chooseModel(call);
  requireBaseUrlFits(options.baseUrl, [model, ...definitions.agents.flatMap((one) => one.model ?? [])]);
  printDefinitionNotices(definitions.read, DEFAULT_AGENT, host);
  const say = speaker(call);
  const stops = watchStops(host, null);
  try {
    const errand = await createErrand({
      ...agents,
      ...definitions.options,
      store,
      model,
      // No user answers at the terminal of a worker.
      onModelCallLimit: "end",
      recover: true,
      onNotice: say.notice,
      onFailure: (error) => (FATAL.has(error.code) ? stops.onFailure(error) : say.error(error)),
    });
    const names = [...definitions.agents, ...definitions.builtIn].map(({ name }) => name).toSorted();
    say.begun(storeName(store), names, { model, because });
    const stop = await stops.first;
    if (stop.type === "failure") say.error(stop.error);
    await errand.close({ withinMs: CLOSE_WITHIN_MS });
    return say.done(exitOf(stop));
  } finally {
    stops.close();
  }
};

function requireDatabase({ scope, host }: CommandCall): string {
  if (scope.kind === "named" && postgresUrlIs(scope.store)) return scope.store;
  const what = scope.kind === "named" ? `${scope.store} is a file` : "none was named";
  const unused = postgresUrlIs(host.env["DATABASE_URL"] ?? "")
    ? "DATABASE_URL alone is not used: errand config set --global useDatabaseUrl true agrees to it. "
    : "";
  throw new ErrandError("usage", `Workers share a PostgreSQL database, and ${what}`, {
    remedy:
      `${unused}Name the database: ERRAND_DATABASE_URL=postgres://user@host/name errand worker. ` +
      "A file has one owner: errand resume.",
  });
}

function exitOf(stop: Stop): ExitCode {
  if (stop.type === "failure") return EXIT.failed;
  return stop.type === "signal" && stop.signal === "SIGINT" ? EXIT.interrupted : EXIT.done;
}

function speaker({ options, host }: CommandCall) {
  const json = options.json === true;
  return {
    begun(store: string, agents: readonly string[], { model, because }: { model: string; because: string }): void {
      const name = workerName();
      if (json) return host.out(jsonLine({ type: "worker", name, store, agents, model, because }));
      const line = `worker ${name} takes trees of ${store} with ${model} (${because}); agents: ${agents.join(", ")}`;
      host.out(`${terminalLine(line)}\n`);
    },
    notice(notice: ErrandError): void {
      if (json) host.out(jsonLine({ type: "notice", code: notice.code, text: notice.message }));
      else host.err(noticeLines(notice));
    },
    error(error: ErrandError): void {
      const problem = problemOf(error);
      if (json) host.out(jsonLine(problemRecord(problem)));
      else reportProblem(problem, host, false);
    },
    done(exit: ExitCode): ExitCode {
      if (json) host.out(jsonLine({ type: "done", exit }));
      else host.out("stopped; its trees are let go\n");
      return exit;
    },
  };
}
