import type { Command } from "../../command.ts";

export const ANSWER: Command = {
  name: "answer",
  description: "list the calls that wait for your permission, or allow or refuse one",
  args: [
    ["[question]", "a question by its id, or the tree that asks it; without one, those that are open are listed"],
    ["[answer]", "yes or no; to what a child asks, your words; without it, a terminal asks"],
    ["[note]", "what the agent should know about your refusal"],
  ],
  options: [["--seen <mark>", "allow it only if its file is as it was when this mark was shown"]],
  help: `
Examples:
  errand answer
  errand answer 3f9c21
  errand answer 3f9c21 yes
  errand answer 3f9c21 yes --seen 4be19c02a77d
  errand answer 3f9c21 no "use the staging database"
  errand answer 3f9c21 "the third floor"

Each question is shown with the change that it would make to its file as it is now. An allowed change is made only if
the file is still as this command saw it.

A run that asks waits for the answer and costs nothing. If a process owns the store, the run continues at once. If none
does, the answer is stored, and errand resume continues the run.
Exit codes: 0 listed, or the answer is durable, 1 failed or not open, 2 wrong use.
`,
  load: async () => (await import("./answer.ts")).answerCommand,
};
