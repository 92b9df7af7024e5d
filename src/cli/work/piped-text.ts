/**
 * What another program pipes into a command beside its words: `git diff | errand run "review"`.
 *
 * Invariants:
 *  1. A terminal and /dev/null are never read.
 *  2. A pipe on which nothing comes, as programs leave it open for the commands that they start, is given up after a while, and that is
 *     said. Once something has come, all of it is read.
 */

import type { Host } from "../host.ts";

const FIRST_WITHIN_MS = 3_000;

/** The text, trimmed; empty when there is none. */
export async function pipedText(host: Host): Promise<string> {
  if (!host.piped) return "";
  const input = host.input()[Symbol.asyncIterator]();
  const silent = Promise.withResolvers<null>();
  const cancel = host.world.after(FIRST_WITHIN_MS, () => silent.resolve(null));
  const first = input.next();
  const began = await Promise.race([first, silent.promise]);
  cancel();
  if (began === null) {
    // It may end with an error later, when nobody waits for it.
    first.catch(() => undefined);
    host.err(
      `standard input is open, and nothing came on it within ${FIRST_WITHIN_MS / 1_000} s: the task is taken without it\n`,
    );
    return "";
  }
  const decoder = new TextDecoder();
  let text = "";
  for (let piece = began; piece.done !== true; piece = await input.next()) {
    text += decoder.decode(piece.value, { stream: true });
  }
  return (text + decoder.decode()).trim();
}
