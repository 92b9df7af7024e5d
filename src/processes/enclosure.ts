/**
 * Finds out whether outside processes can run in a pid namespace of their own. Then the kernel ends all processes of a
 * tree, and the tree cannot read this process's environment through /proc. If the system allows it, ordinary users get
 * the namespace inside a user namespace that keeps their uid.
 *
 * It tries each way, because permissions that look granted may not be.
 */

import { spawn } from "node:child_process";

export interface Enclosure {
  /** The program that makes the namespace, with its arguments; empty without a namespace. */
  readonly prefix: readonly string[];
}

const NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child"] as const;
/** Keeps the user's uid, because programs such as initdb and Chromium refuse to run as uid 0. */
const USER_NAMESPACE = ["unshare", "-U", "--map-current-user", "--pid", "--fork", "--kill-child"] as const;
/** Kills the tree also if this process is killed, without waiting for the guard. */
const WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"] as const;
/** A shell is the namespace's first process, because the first process ignores signals and must reap orphans. */
const FIRST_PROCESS = ["/bin/sh", "-c", '"$@"; exit $?', "sh"] as const;

/** The best first. */
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
