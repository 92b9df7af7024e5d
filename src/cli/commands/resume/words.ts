import { BASE_URL, BY_ID, type Command } from "../../command.ts";

export const RESUME: Command = {
  name: "resume",
  description: "continue the unfinished work of an earlier process, until it is done",
  args: [["[tree]", `only this tree, ${BY_ID}; a quarantined one is released`, "trees"]],
  options: [BASE_URL, ["--timeout <seconds>", "cancel the work when it takes longer, and exit with 3"]],
  help: `
Examples:
  errand resume
  errand resume 3f9c21

It owns the store that has the tree while it runs; it does not touch the work of another process.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
  load: async () => (await import("./resume.ts")).resumeCommand,
};
