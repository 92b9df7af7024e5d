/** An invariant of SCENARIOS.md that does not hold, with its number: what a simulation fails with. */

export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: string;

  constructor(invariant: string, what: string) {
    super(`${invariant}: ${what}`);
    this.invariant = invariant;
  }
}

/** Demands that something holds. The words are made only when it does not. */
export function demand(invariant: string, holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Violation(invariant, what());
}
