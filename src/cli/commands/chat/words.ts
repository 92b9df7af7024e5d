import { ALLOW, BASE_URL, BY_ID, type Command } from "../../command.ts";

export const CHAT: Command = {
  name: "chat",
  description: "talk with an agent that delegates, at the keyboard or line by line",
  args: [["[tree]", `continue this conversation, ${BY_ID}`, "trees"]],
  options: [
    [
      "-m, --model <provider/name>",
      "the model of every agent; without it, what run would take, or what the conversation had",
    ],
    BASE_URL,
    ["--agent <name>", "talk with this definition instead of the orchestrator; errand agents lists them"],
    ALLOW,
  ],
  memory: true,
  help: `
Examples:
  errand chat
  errand chat last
  errand chat --model anthropic/… --agent researcher
  printf 'where is the store opened?\\nand closed?\\n' | errand chat

In a terminal Enter sends, Alt-Enter begins another line, up shows what you wrote, and /help lists the rest.
Ctrl-C cancels the current work, at the prompt it leaves; Ctrl-D leaves and says how to come back. Elsewhere, and with
--json, a line of standard input is a message, and its answer is on standard output before the next line is read.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit, 130 interrupted.
`,
  load: async () => (await import("./chat.ts")).chatCommand,
};
