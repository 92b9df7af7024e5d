/** A violated invariant, with its number: the failure of a simulation. */

export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: string;

  constructor(invariant: string, what: string) {
    super(`${invariant}: ${what}`);
    this.invariant = invariant;
  }
}

/** Throws a Violation unless `holds`. The message is made only then. */
export function demand(invariant: string, holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Violation(invariant, what());
}

/** The invariant that the work violates, "nothing", or what else it threw. For tests of the checkers. */
export function violated(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Violation ? error.invariant : `threw ${String(error)}`;
  }
  return "nothing";
}
