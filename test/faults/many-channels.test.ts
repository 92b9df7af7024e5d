/**
 * Channels of conversations that ended or were left alone are released; those of conversations at rest cost next to
 * nothing.
 */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../support/postgres/databases.ts";
import { temporaryFolder } from "../support/test-errand.ts";
import type { ChannelCost } from "./many-channels.ts";

const PROGRAM = fileURLToPath(new URL("./many-channels.ts", import.meta.url));
const CONVERSATIONS = 1_500;
/** A channel that is not released costs more than 1,200 bytes. */
const MOST_BYTES = 800;
const MOST_IDLE = 0.1;

async function costOf(store: string, ends: "closed" | "left" | "kept"): Promise<ChannelCost> {
  const given = JSON.stringify({ store, conversations: CONVERSATIONS, ends });
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", PROGRAM, given]);
  return JSON.parse(stdout) as ChannelCost;
}

async function postgres(): Promise<string> {
  const database = await createDatabase();
  onTestFinished(database.drop);
  return database.url;
}

const stores = [
  { name: "SQLite", open: async () => join(temporaryFolder(), "errand.db") },
  { name: "PostgreSQL", open: postgres },
];

test.each(stores)(
  "$name: nothing is left of channels whose conversations ended or were left alone",
  async ({ open }) => {
    for (const ends of ["closed", "left"] as const) {
      const cost = await costOf(await open(), ends);
      expect({ ends, held: cost.held, delivered: cost.delivered }).toEqual({
        ends,
        held: 0,
        delivered: cost.conversations,
      });
      expect(cost.bytes).toBeLessThan(MOST_BYTES);
    }
  },
);

test.each(stores)("$name: channels that the program keeps cost next to no work at rest", async ({ open }) => {
  const cost = await costOf(await open(), "kept");
  expect(cost.held).toBe(cost.conversations);
  expect(cost.idle).toBeLessThan(MOST_IDLE);
});
