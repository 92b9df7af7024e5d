/** What journals are for: forks, exports, proofs, moves. */

import type { Command } from "../command.ts";
import { ALLOW, BASE_URL, TREE_OR_RUN } from "./shared.ts";

export const HISTORIES: readonly Command[] = [
  {
    name: "fork",
    description: "go on from any step of a tree, in a new tree that shares the history until there",
    args: [
      ["<agent>", "the root agent of a tree, by its id or any unique beginning of it", "trees"],
      ["[task]", "what to say to it there; - reads it from standard input"],
    ],
    options: [
      ["--at <seq>", "the last row of the journal that is shared; errand logs shows their numbers"],
      ["--agent <name>", "go on as another definition"],
      ["-m, --model <provider/name>", "go on with another model than the recorded one"],
      BASE_URL,
      ALLOW,
      ["--timeout <seconds>", "cancel the work when it takes longer, and exit with 3"],
    ],
    needed: ["--at <seq>"],
    help: `
Examples:
  errand fork 019a8f3c --at 12
  errand fork 019a8f3c --at 12 --agent researcher "now look at the tests instead"

What was under way at that step is interrupted in the fork, and goes on in the tree it came from. It owns the store
while it runs.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
    load: async () => (await import("../commands/fork.ts")).forkCommand,
  },
  {
    name: "export",
    description: "write the whole journal of a tree as one file of JSON lines",
    args: [["<tree>", TREE_OR_RUN, "ids"]],
    options: [["-o, --out <file>", "write this file, replacing it whole; without it, standard output"]],
    help: `
Examples:
  errand export 019a8f3c --out tree.jsonl
  errand export 019a8f3c | gzip > tree.jsonl.gz

The file holds every text of the tree, so only you may read it (0600). errand replay proves it anywhere.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/export.ts")).exportCommand,
  },
  {
    name: "replay",
    description: "prove a journal: decide everything again, call nothing, compare every byte",
    args: [
      [
        "<source>",
        "a tree or a run, by its id or any unique beginning of it; an exported file; - for standard input",
        "ids and files",
      ],
    ],
    options: [],
    help: `
Examples:
  errand replay 019a8f3c
  errand replay tree.jsonl
  gunzip < tree.jsonl.gz | errand replay -

It calls no model, no tool and no network, and works while another process owns the store. The first difference is
shown with its row, the line of the file, and both sides.
Exit codes: 0 proven or intact, 1 broken or failed, 2 wrong use.
`,
    load: async () => (await import("../commands/replay.ts")).replayCommand,
  },
  {
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

A move is compared row by row, and every journal is proven on both sides. Until all of it is there nobody can work on the
trees in the database; from then on nobody can work on the file, which is kept and says where they went. A move that was
interrupted goes on when it is started again. After an upgrade, --finish comes last, when every process runs the new version.
Exit codes: 0 done or nothing to do, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/migrate.ts")).migrateCommand,
  },
];
