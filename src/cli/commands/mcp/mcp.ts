/** `errand mcp`: serves the runs of this folder to the agent that started it, or shows how to set an agent up. */

import { createErrand } from "../../../runtime/create-runtime.ts";
import type { HostToolsOptions } from "../../../host-tools/host-tools.ts";
import { joinHostTools } from "../../../host-tools/join-host-tools.ts";
import { ErrandError } from "../../../errors.ts";
import type { World } from "../../../contracts/world.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { printDefinitionNotices } from "../../definitions/definition-notices.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { problemOf, reportProblem } from "../../problem.ts";
import { newRoot } from "../../running/new-root.ts";
import { type Stop, type Stops, watchStops } from "../../running/stops.ts";
import { ownStore } from "../../store/own-store.ts";
import { offlineIs } from "../../../view/tree-model.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { readVersion } from "../../version.ts";
import { storeDone } from "../run/background.ts";
import { installServer } from "./install.ts";
import { createProjectHosts } from "./project-hosts.ts";

const CLOSE_WITHIN_MS = 5_000;
const TOOLS: HostToolsOptions = { background: true };

export const mcpCommand: CommandAction = async (call) => {
  const [action, client] = call.args;
  if (action === undefined) return serve(call);
  if (action === "install") return installServer(client, call);
  throw new ErrandError("usage", `errand mcp knows no "${action}"`, {
    remedy: "errand mcp serves; errand mcp install claude shows how to set Claude Code up.",
  });
};

async function serve(call: CommandCall): Promise<ExitCode> {
  const { scope, host, options, settings } = call;
  const { agent, read, runtimeOptions } = await newRoot(call);
  const { model } = runtimeOptions;
  const isNamed = options.model !== undefined || settings.model !== null;
  if (!isNamed && typeof model === "string" && offlineIs(model)) throw noModel();
  printDefinitionNotices(read, agent, host);
  const stops = watchStops(host, null);
  const open = (store: string) =>
    createErrand({ ...runtimeOptions, onModelCallLimit: "end", store, onFailure: (error) => failed(call, error) });
  try {
    const { path, opened: errand } = await ownStore(scope, host, open);
    const own = errand.hostTools(TOOLS);
    const project = createProjectHosts({ scope, own: path, host, open, tools: TOOLS, agents: own.agents });
    try {
      await project.hosts();
      const { serveMcpOverStdio } = await import("../../../mcp/stdio.ts");
      const server = serveMcpOverStdio({
        hosts: joinHostTools(own, project.hosts, project.alone),
        version: readVersion(),
        onError: (error) => host.err(`${terminalLine(`mcp: ${error.message}`)}\n`),
      });
      host.err(`${terminalLine(`serving the runs of ${host.folder} over MCP; store ${path}`)}\n`);
      const ended = server.ended.then(() => null);
      const stop = await Promise.race([stops.first, ended]);
      await server.close();
      const later = stop ?? (await finishing([path, ...project.owned()], stops, host.world));
      return later?.type === "signal" && later.signal === "SIGINT" ? EXIT.interrupted : EXIT.done;
    } finally {
      await project.close(CLOSE_WITHIN_MS);
      await errand.close({ withinMs: CLOSE_WITHIN_MS });
    }
  } finally {
    stops.close();
  }
}

/** The agent has gone: what it asked for is finished, unless this process is stopped first. */
async function finishing(paths: readonly string[], stops: Stops, world: World): Promise<Stop | null> {
  const idle = Promise.all(paths.map((path) => storeDone(path, world))).then(() => null);
  // When a stop comes first, the stores are closed under it.
  void stops.first.then(() => idle.catch(() => undefined));
  return Promise.race([stops.first, idle]);
}

/** The agent that started this process would take the offline model's words for results, and see no warning. */
function noModel(): ErrandError {
  return new ErrandError("model-missing", "errand mcp has no model: there is no key and no running Ollama.", {
    remedy:
      "Set ANTHROPIC_API_KEY or another key in the server's entry, or add --model provider/name to its arguments.",
  });
}

/** A failure that no call hears of, such as that of a store, is printed for the agent's log. */
function failed({ host }: CommandCall, error: ErrandError): void {
  reportProblem(problemOf(error), host, false);
}
