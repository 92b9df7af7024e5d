import type { Store } from "../../src/contracts/store.ts";

/** What the conformance suite is given. All handles of one subject read the same data. */
export interface StoreUnderTest {
  /** The handle of the process that may commit. */
  readonly store: Store;
  /** A handle as another process would have it, which may read and put mail. */
  peer(): Promise<Store>;
  /** The handle of a process that comes after the first one is gone, and may commit in its place. */
  successor(): Promise<Store>;
  dispose(): Promise<void>;
}
