import { ALLOW, BASE_URL, type Command } from "../../command.ts";

export const WORKER: Command = {
  name: "worker",
  description: "run trees of a database together with other workers, until it is stopped",
  args: [],
  options: [
    ["-m, --model <provider/name>", "the model of agents whose definition names none; without it, as for errand run"],
    BASE_URL,
    ALLOW,
  ],
  help: `
Examples:
  ERRAND_DATABASE_URL=postgres://user@host/errand errand worker
  errand worker --store postgres://user@host/errand --json

Any number of workers, on any number of machines, share a PostgreSQL database. Each takes trees with work that no
process runs: new mail, a due time, the work of a dead process. SIGTERM releases its trees, and other workers take them
at once; after a crash they do so within seconds.
Exit codes: 0 stopped by SIGTERM, 1 failed, 2 wrong use, 130 interrupted.
`,
  load: async () => (await import("./worker.ts")).workerCommand,
};
