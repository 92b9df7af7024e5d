/** Holds a script or a tool back until the test lets it go on. */

/** A script or a tool waits for `passed` until the test calls `open`. */
export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

/** A gate that is closed. */
export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: () => resolve() };
}
