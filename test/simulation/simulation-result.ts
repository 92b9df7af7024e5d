/** What a simulation gives. */

import type { Outside } from "./outside.ts";
import type { Watch } from "./watch.ts";

export interface SimulationResult {
  readonly seed: number;
  readonly failure: { readonly invariant: string; readonly message: string } | null;
  readonly commits: number;
  readonly rows: number;
  readonly lives: number;
  /** Hash over all journals. The same seed gives the same hash. */
  readonly digest: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly watch: Watch;
  readonly outside: Outside;
}
