import type { Command } from "../../command.ts";

export const MIGRATE: Command = {
  name: "migrate",
  description: "move a store from its file to a PostgreSQL database, or finish an upgrade",
  args: [],
  options: [
    ["--from <file>", "the SQLite file to move, with all its trees, finished and open"],
    ["--to <url>", "the PostgreSQL database to move it to; it must hold no other trees"],
    ["--finish", "from now on write new trees in the newest journal format of this version"],
  ],
  help: `
Examples:
  errand migrate --from errand.db --to postgres://user@host/database
  errand migrate --finish --store postgres://user@host/database

A move is compared row by row, and every journal is proven on both sides. Until the move is complete no process can run
the trees in the database. From then on no process can run those in the file, which is kept and says where they went. An
interrupted move continues when it is started again. After an upgrade, --finish comes last, when every process runs the
new version.
Exit codes: 0 done or nothing to do, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./migrate.ts")).migrateCommand,
};
