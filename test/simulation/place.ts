/** Where simulations keep their stores: a folder in memory where the machine has one, and the bytes of a fresh store to begin with. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import type { SimulationPlace } from "./simulation.ts";

const MEMORY = "/dev/shm";

export async function openPlace(): Promise<SimulationPlace & { close(): void }> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "errand-simulation-"));
  const path = join(folder, "template.db");
  await openSqliteStore({ path, access: "own", durability: "none" }).close();
  const template = readFileSync(path);
  return { folder, template, close: () => rmSync(folder, { recursive: true, force: true }) };
}
