/** The test world of the public kit, and how to tell it from another world. */

import type { World } from "../../src/index.ts";
import type { TestWorld } from "../../src/testing/index.ts";

export { createTestWorld, type TestWorld } from "../../src/testing/index.ts";

export function isTestWorld(world: World): world is TestWorld {
  return "advance" in world;
}
