/**
 * The guard of a process tree: a small shell that ends the tree when this process dies, however it dies.
 *
 * Invariants:
 *  1. It holds a pipe from this process. The system closes the pipe when this process ends, also after SIGKILL. At
 *     end-of-file the guard kills every process of the tree, in rounds until no new one appears, and exits.
 *  2. It is started before the tree and knows the tree by its mark, so no moment is without a guard.
 *  3. It exits at once when the tree is released. It is in a session of its own and ignores the signals that a terminal
 *     or a service manager sends to a group.
 *  4. A guard that ends before its tree was released is reported: a tree must not run without one.
 *
 * It finds the processes of a tree as process-table.ts does: by mark, by descent and by session.
 */

import { spawnSealed } from "./descriptors.ts";
import { DEFAULT_PATH } from "./environment.ts";
import { MARK_NAME } from "./process-table.ts";

export interface Guard {
  /** Names the first process of the tree. */
  watch(root: number, startedAt: number): void;
  /** The tree has ended. Resolves when the guard has ended too. */
  release(): Promise<void>;
}

/** Pairs of parent and session lead from the processes that are known to all others of the tree. */
const CLOSURE = `
{ pid = $1; rest = $0; sub(/^.*\\) /, "", rest); split(rest, field, " ")
  if (field[1] == "Z" || field[1] == "X") next
  parent[pid] = field[2]; session[pid] = field[4]; started[pid] = field[20] }
END {
  count = split(marked, seeds, " ")
  for (i = 1; i <= count; i++) if (seeds[i] in parent) found[seeds[i]] = 1
  if ((root in started) && started[root] == since) found[root] = 1
  if (since != "") sessions[root] = 1
  do {
    grown = 0
    for (pid in found) sessions[session[pid]] = 1
    for (pid in parent) {
      if (pid in found || pid <= 1 || session[pid] == own) continue
      if ((parent[pid] in found) || (session[pid] in sessions)) { found[pid] = 1; grown = 1 }
    }
  } while (grown)
  for (pid in found) if (pid > 1 && session[pid] != own) print pid
}`;

/** $1: the mark with its name, $2: the program for awk. Lines of the pipe: "PID STARTED", or "released". */
const SCRIPT = `
trap '' HUP INT TERM
root=0 since=
while read -r first second; do
  [ "$first" = released ] && exit 0
  root=$first since=$second
done
if [ ! -d /proc/self ]; then
  [ "$root" -gt 1 ] && kill -KILL "-$root"
  exit 0
fi
quiet=0 round=0
while [ $quiet -lt 10 ] && [ $round -lt 1000 ]; do
  round=$((round + 1))
  marked=$(grep -lsF -e "$1" /proc/[0-9]*/environ | cut -d / -f 3 | tr '\\n' ' ')
  found=$(cat /proc/[0-9]*/stat 2>/dev/null |
    awk -v marked="$marked" -v root="$root" -v since="$since" -v own="$$" "$2")
  if [ -z "$marked$found" ]; then
    quiet=$((quiet + 1))
    sleep 0.05
  else
    quiet=0
    kill -KILL $marked $found
    sleep 0.01
  fi
done 2>/dev/null`;

/** Null if no guard can be started: then nothing may be started. */
export function startGuard(mark: string, onLost: () => void): Guard | null {
  const shell = spawnSealed("/bin/sh", ["-c", SCRIPT, "errand-guard", `${MARK_NAME}=${mark}`, CLOSURE], {
    cwd: "/",
    env: { PATH: DEFAULT_PATH },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  let released = false;
  const ended = new Promise<void>((resolve) => {
    // A shell that cannot be started has no `exit`, and no pid.
    shell.once("error", () => resolve());
    shell.once("exit", () => {
      if (!released) onLost();
      resolve();
    });
  });
  if (shell.pid === undefined) return null;
  // Its pipe is broken if it was killed: `exit` reports that.
  shell.stdin?.on("error", () => undefined);
  return {
    watch(root, startedAt) {
      shell.stdin?.write(`${root} ${startedAt}\n`);
    },
    release() {
      released = true;
      shell.stdin?.end("released\n");
      return ended;
    },
  };
}
