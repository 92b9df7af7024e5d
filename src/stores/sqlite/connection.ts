/** What a store uses of a connection to its database. */

import type { DatabaseSync } from "node:sqlite";

export type Connection = Pick<DatabaseSync, "prepare" | "exec" | "isOpen" | "isTransaction" | "close">;
