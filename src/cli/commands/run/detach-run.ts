/** `errand run --detach`: hands the task to a background process and says where to find it. */

import type { CommandCall } from "../../command.ts";
import { commandWords } from "../completion/command-words.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { requireFile } from "../../store/open-view.ts";
import { makeProjectFolder } from "../../store/own-store.ts";
import { databaseIs, projectScope, scopeName } from "../../store/scope.ts";
import { logPathOf } from "./bounded-log.ts";
import { startBackground } from "./start-background.ts";

/** Options of this command, not of the one in the background; which store it is, that one is told in private. */
const OWN: ReadonlySet<string> = new Set(["--detach", "--json", "--store"]);

export async function detachRun(call: CommandCall, task: string): Promise<ExitCode> {
  const { options, scope, host } = call;
  if (scope.kind === "named") requireFile(scope.store);
  const own = projectScope(host.folder, host);
  // A log in the data folder stands beside the record of whose it is.
  if (scope.kind === "project" || databaseIs(scope)) await makeProjectFolder(own, host);
  const log = logPathOf(scope, host);
  let interrupted = false;
  const offs: (() => void)[] = [];
  try {
    const { tree, pid } = await startBackground({
      args: ["run", "--detached", ...givenOptions(call)],
      handed: { task, scope },
      log,
      started(child) {
        const stop = (): void => {
          interrupted = true;
          child.kill("SIGINT");
        };
        offs.push(host.onSignal("SIGINT", stop));
      },
    });
    if (options.json === true) host.out(jsonLine({ type: "detached", tree, pid, store: scopeName(scope), log }));
    else {
      host.out(`${tree}\n`);
      host.err(`works in the background (pid ${pid}); watch it with: errand logs -f ${tree}\n`);
    }
    return EXIT.done;
  } catch (thrown) {
    if (interrupted) return EXIT.interrupted;
    throw thrown;
  } finally {
    for (const off of offs) off();
  }
}

/** The options of the command line again, as words. */
function givenOptions({ commands, options }: CommandCall): string[] {
  const command = commands.find(({ name }) => name === "run");
  const given = new Map(Object.entries(options));
  return (command === undefined ? [] : commandWords(command).options).flatMap(({ long, value }) => {
    const name = long.slice(2).replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
    const said: unknown = OWN.has(long) ? undefined : given.get(name);
    if (value !== null && typeof said === "string") return [long, said];
    return value === null && said === true ? [long] : [];
  });
}
