/** Reads the text that a command works on: an argument, standard input with `-`, or what another program pipes in. */

import { ErrandError } from "../../errors.ts";
import type { Host } from "../host.ts";

/** How long a pipe may stay empty. Some programs leave one open for the commands that they start. */
const FIRST_WITHIN_MS = 3_000;

/**
 * The argument `given`, or all of standard input if it is `-`. `what` and `example` are for the error if it is empty.
 */
export async function givenText(given: string, what: string, example: string, host: Host): Promise<string> {
  const text = given === "-" ? await host.readInput() : given;
  if (text.trim() !== "") return text.trim();
  const where = given === "-" ? "standard input" : "the command line";
  throw new ErrandError("usage", `The ${what} on ${where} is empty`, { remedy: `Say what to do: ${example}` });
}

/**
 * What another program pipes into a command beside its arguments: `git diff | errand run "review"`. Empty if standard
 * input is a terminal or /dev/null, or if nothing comes in time. Once something has come, all of it is read.
 */
export async function pipedText(host: Host): Promise<string> {
  if (!host.piped) return "";
  const input = host.input()[Symbol.asyncIterator]();
  const silent = Promise.withResolvers<null>();
  const cancel = host.world.after(FIRST_WITHIN_MS, () => silent.resolve(null));
  const first = input.next();
  const began = await Promise.race([first, silent.promise]);
  cancel();
  if (began === null) {
    // It may fail later, when no code waits for it.
    first.catch(() => undefined);
    const waited = `${FIRST_WITHIN_MS / 1_000} s`;
    host.err(`standard input is open, and nothing came on it within ${waited}: the task is taken without it\n`);
    return "";
  }
  const decoder = new TextDecoder();
  let text = "";
  for (let piece = began; piece.done !== true; piece = await input.next()) {
    text += decoder.decode(piece.value, { stream: true });
  }
  return (text + decoder.decode()).trim();
}
