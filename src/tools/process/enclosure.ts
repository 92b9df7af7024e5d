/**
 * Owns the question whether commands can run in a pid namespace of their own: then the kernel ends everything a command started,
 * and the command cannot read this process's environment through /proc. Ordinary users get one inside a user namespace that keeps
 * their uid, where the system allows that.
 *
 * Asked once for each factory of tools, by trying it: a permission that looks granted may not be.
 */

import { spawn } from "node:child_process";

export interface Enclosure {
  /** The program that makes the namespace, with its arguments; empty where there is none to be had. */
  readonly prefix: readonly string[];
}

const NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child"] as const;
/** Programs such as initdb and Chromium refuse to run as uid 0, so the user's own uid is kept. */
const USER_NAMESPACE = ["unshare", "-U", "--map-current-user", "--pid", "--fork", "--kill-child"] as const;
/** Kills the command's tree also when this process is killed. */
const WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"] as const;
/** The command is not the namespace's first process: that one ignores signals, and must take notice of orphans. */
const FIRST_PROCESS = ["/bin/sh", "-c", '"$@"; exit $?', "sh"] as const;

/** Ways to enclose a command, the best first. */
export const ENCLOSURES: readonly (readonly string[])[] = [
  [...WITH_PARENT, ...NAMESPACE, "--mount-proc", ...FIRST_PROCESS],
  [...NAMESPACE, "--mount-proc", ...FIRST_PROCESS],
  [...WITH_PARENT, ...USER_NAMESPACE, "--mount-proc", ...FIRST_PROCESS],
  [...USER_NAMESPACE, "--mount-proc", ...FIRST_PROCESS],
  [...NAMESPACE, ...FIRST_PROCESS],
];

export async function findEnclosure(environment: Readonly<Record<string, string>>): Promise<Enclosure> {
  if (process.platform !== "linux") return { prefix: [] };
  for (const prefix of ENCLOSURES) {
    if (await succeeds([...prefix, "/bin/sh", "-c", "exit 7"], environment)) return { prefix };
  }
  return { prefix: [] };
}

function succeeds(argv: readonly string[], environment: Readonly<Record<string, string>>): Promise<boolean> {
  const [program = "", ...rest] = argv;
  return new Promise((resolve) => {
    const child = spawn(program, rest, { stdio: "ignore", env: environment });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 7));
  });
}
