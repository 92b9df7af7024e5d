/**
 * The runner `subprocess`: a child is a program, started for one run. It gets its request as one line on its input, and
 * answers with envelopes, one a line, on its output (envelope.ts). Its error output is a log.
 *
 * Invariants:
 *  1. Only settings of code or of a trusted file start anything (subprocess-settings.ts).
 *  2. The child runs under the supervisor (processes/supervise.ts): the variables that its definition names, no shell,
 *     no descriptor but its streams, and no process left at its end or at the end of Errand.
 *  3. All processes of an attempt have the same mark, which is made from the tree, the run and the attempt, so that a
 *     later process of Errand finds them (`gone`). The guard of an earlier attempt may still look for its own mark.
 */

import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Runner, RunnerEvents, RunnerRequest, RunnerSession, RunnerSettings } from "../contracts/runner.ts";
import type { World } from "../contracts/world.ts";
import { type Enclosure, findEnclosure } from "../processes/enclosure.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { allowedVariables, DEFAULT_PATH } from "../processes/environment.ts";
import { findProgram } from "../processes/find-program.ts";
import { startSubprocess, type Preparation } from "./subprocess-session.ts";
import { parseSubprocessSettings } from "./subprocess-settings.ts";

/** What the runner `subprocess` is made from. */
export interface SubprocessRunnerOptions {
  readonly world: Pick<World, "after">;
  /** Usually `process.env`. Children get the usual variables without secrets, and those that their definitions name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The name that definitions use. Default: `subprocess`. */
  readonly name?: string;
  /** A folder of the user's for the logs of children (their error output). Without it only the last words are kept. */
  readonly logs?: string;
  /** `process-table`: never use a pid namespace. Default: `auto`. */
  readonly enclosure?: "auto" | "process-table";
}

const MARK_DIGITS = 32;
/** When to look again for processes that could not be killed. */
const AGAIN_MS = 1_000;

/** The runner for children that are programs: definitions name it as `runner: "subprocess"`. */
export function createSubprocessRunner(options: SubprocessRunnerOptions): Runner {
  const { world, environment } = options;
  let enclosure: Promise<Enclosure> | null = null;

  function chooseEnclosure(): Promise<Enclosure> {
    if (options.enclosure === "process-table") return Promise.resolve({ prefix: [] });
    return findEnclosure(allowedVariables(environment, []));
  }

  async function programFor(settings: RunnerSettings, folder: string): Promise<{ readonly path: string } | string> {
    const parsed = parseSubprocessSettings(settings);
    if (typeof parsed === "string") return parsed;
    const path = await findProgram(parsed.program, folder, environment["PATH"] ?? DEFAULT_PATH);
    if (path !== null) return { path };
    return `there is no program ${JSON.stringify(parsed.program.slice(0, 200))}; install it, or give its path`;
  }

  async function prepare(request: RunnerRequest): Promise<Preparation | string> {
    const parsed = parseSubprocessSettings(request.settings);
    if (typeof parsed === "string") return parsed;
    const { workspace } = request;
    if (!(await folderIs(workspace))) return `the folder ${JSON.stringify(workspace)} does not exist`;
    const program = await programFor(request.settings, workspace);
    if (typeof program === "string") return program;
    enclosure ??= chooseEnclosure();
    const mark = markOf(request.tree, request.run, request.attempt);
    return {
      settings: parsed,
      program: program.path,
      enclosure: await enclosure,
      environment: allowedVariables(environment, parsed.env),
      mark,
      // The last step, because the caller removes it only if all went well.
      folder: parsed.cwd === "temporary" ? await makeFolder(mark) : workspace,
    };
  }

  async function clean({ settings, folder, mark }: Preparation, left: boolean): Promise<void> {
    if (left) await endMarked([mark]);
    if (settings.cwd === "temporary") await removeFolder(folder);
  }

  async function endMarked(marks: readonly string[]): Promise<void> {
    const tree = { root: null, marks, startedAt: 0, namespaced: false };
    while ((await endProcesses(tree, world)) > 0)
      await new Promise<void>((resolve) => void world.after(AGAIN_MS, resolve));
  }

  function start(request: RunnerRequest, events: RunnerEvents): RunnerSession {
    const logs = options.logs ?? null;
    return startSubprocess({ request, events, world, logs, prepare: () => prepare(request), clean });
  }

  return {
    name: options.name ?? "subprocess",
    takes: ["answer", "steer", "report-accepted", "report-refused"],
    check(settings) {
      const parsed = parseSubprocessSettings(settings);
      return typeof parsed === "string" ? parsed : null;
    },
    async available(settings) {
      // A path that is relative to the folder of a run is looked for when the run starts.
      const parsed = parseSubprocessSettings(settings);
      if (typeof parsed !== "string" && parsed.program.includes("/") && !parsed.program.startsWith("/")) return null;
      const found = await programFor(settings, "/");
      return typeof found === "string" ? found : null;
    },
    secrets(settings) {
      const parsed = parseSubprocessSettings(settings);
      if (typeof parsed === "string") return [];
      return parsed.env.flatMap((name) => environment[name] ?? []);
    },
    start,
    // The program is started again: it knows its work by the correlation id, and the attempt is in the request.
    resume: (request, _token, events) => start(request, events),
    async gone({ tree, run, attempts }) {
      const marks = Array.from({ length: attempts }, (_, index) => markOf(tree, run, index + 1));
      await endMarked(marks);
      await removeFolders(marks);
    },
  };
}

/** The same in every process of Errand that runs the tree. A fork has another tree, and so other processes. */
function markOf(tree: string, run: string, attempt: number): string {
  return createHash("sha256")
    .update(JSON.stringify([tree, run, attempt]))
    .digest("hex")
    .slice(0, MARK_DIGITS);
}

async function folderIs(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function prefixOf(mark: string): string {
  return `errand-child-${mark}-`;
}

function makeFolder(mark: string): Promise<string> {
  return mkdtemp(join(tmpdir(), prefixOf(mark)));
}

/** What cannot be removed stays in the system's folder for temporary files. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** Removes the folders that an earlier process could not remove. */
async function removeFolders(marks: readonly string[]): Promise<void> {
  const prefixes = marks.map(prefixOf);
  const left = (await readdir(tmpdir())).filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  for (const name of left) await removeFolder(join(tmpdir(), name));
}
