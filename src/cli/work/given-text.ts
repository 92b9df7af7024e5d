/** A text that was given as an argument, or on standard input with `-`. */

import { ErrandError } from "../../errors.ts";
import type { Host } from "../host.ts";

export async function givenText(given: string, what: string, example: string, host: Host): Promise<string> {
  const text = given === "-" ? await host.readInput() : given;
  if (text.trim() !== "") return text.trim();
  const where = given === "-" ? "standard input" : "the command line";
  throw new ErrandError("usage", `The ${what} on ${where} is empty`, { remedy: `Say what to do: ${example}` });
}
