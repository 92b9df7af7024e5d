/** Errors that people may get by design. */

import { ErrandError } from "../../src/index.ts";
import { Violation } from "./invariants/violation.ts";
import type { Life } from "./simulated-world.ts";
import type { Watch } from "./watch.ts";

/** The process stops, so people ask again later. */
const FATAL = new Set<string>(["store-failed", "store-full", "commit-unknown", "shutting-down", "store-closed"]);
/** Also: the agent is gone, its inbox is full, or a spawn is over a limit. */
const EXPECTED = new Set<string>([...FATAL, "agent-unknown", "inbox-full", "usage"]);

export function isFatal({ code }: ErrandError): boolean {
  return FATAL.has(code);
}

/** True for a store that the simulation has locked, and for a quarantined tree: people ask again later. */
export function isLockedOut({ code, message }: ErrandError): boolean {
  return code === "tree-quarantined" || (code === "store-busy" && message.includes("simulation"));
}

/** A handler of errors: any error but an expected refusal is a violation. */
export function requireRefusal(watch: Watch, what: string, life: Life): (error: unknown) => void {
  return (error) => {
    if (life.ended || (error instanceof ErrandError && (EXPECTED.has(error.code) || isLockedOut(error)))) return;
    watch.check(() => {
      throw new Violation("failure", `${what} was refused: ${String(error)}`);
    });
  };
}
