import type { Command } from "../../command.ts";

export const DOCTOR: Command = {
  name: "doctor",
  description: "check everything that Errand needs, and say how to repair problems",
  args: [],
  options: [["--base-url <url>", "the service of openai-compatible models, to see whether it answers"]],
  help: `
Examples:
  errand doctor
  errand doctor --store /data/errand.db
  errand doctor --json | jq -r 'select(.level == "broken") | .name'

It looks at Node.js, SQLite, the disk, where the stores are and who owns them, keys, packages, Ollama, the services
that keys are there for, and the terminal. It asks each service for an answer, and sends no key. No key is printed.
Exit codes: 0 nothing is broken, 1 something is, 2 wrong use.
`,
  load: async () => (await import("./doctor.ts")).doctorCommand,
};
