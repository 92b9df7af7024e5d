/** What the process that does the work and the one that watches it say to each other. */

import type { Probe } from "./probes.ts";

export interface WorkerOptions {
  /** A path or a URL. */
  readonly store: string;
  /** Where the unsafe tool leaves its lines. */
  readonly toolFile: string;
  readonly faults: readonly string[];
  /** True: every text that is streamed costs some memory and a descriptor for ever. For the test of the soak itself. */
  readonly leaks: boolean;
}

/**
 * To the worker. `talk`: carries a conversation on; it is opened where it has no tree yet. `over`: its user has all of
 * it.
 */
export type Order =
  | { readonly do: "talk"; readonly number: number; readonly tree: string | null }
  | { readonly do: "over"; readonly number: number }
  | { readonly do: "probe"; readonly kind: Probe }
  | { readonly do: "measure" }
  | { readonly do: "rest" }
  | { readonly do: "prove"; readonly tree: string }
  | { readonly do: "close" };

/** From the worker. */
export type Told =
  | { readonly told: "up"; readonly recovered: number }
  | { readonly told: "opened"; readonly number: number; readonly tree: string }
  | { readonly told: "answered"; readonly number: number; readonly post: string; readonly text: string }
  | { readonly told: "failed"; readonly number: number; readonly code: string }
  | {
      readonly told: "delivered";
      readonly tree: string;
      readonly id: string;
      readonly text: string;
      readonly repeated: boolean;
    }
  /** A tree was quarantined, and released as a person does it. */
  | { readonly told: "released" }
  /** The probe has ended; `problem` is null if all was well. */
  | { readonly told: "probed"; readonly problem: string | null }
  /** What `onNotice` got. */
  | { readonly told: "notice"; readonly code: string }
  /** Trees that are still under way or quarantined. */
  | { readonly told: "rested"; readonly left: readonly string[] }
  | { readonly told: "level"; readonly heap: number; readonly descriptors: number; readonly trees: number }
  | { readonly told: "verdict"; readonly tree: string; readonly verdict: string }
  | { readonly told: "broken"; readonly code: string; readonly message: string };
