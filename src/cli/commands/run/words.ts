import { ALLOW, BASE_URL, type Command } from "../../command.ts";

export const RUN: Command = {
  name: "run",
  description: "give a task to an agent that delegates parts of it, and print its answer",
  args: [
    [
      "[task]",
      "the task; what is piped in is appended to it; - reads it from standard input; without either, a demonstration",
    ],
  ],
  options: [
    [
      "-m, --model <provider/name>",
      "the model of every agent; without it, each definition's own, else the setting, else that of the key at hand",
    ],
    BASE_URL,
    ["--agent <name>", "start this definition instead of the orchestrator; errand agents lists them"],
    ALLOW,
    ["--timeout <seconds>", "cancel the work when it takes longer, and exit with 3"],
    ["-d, --detach", "leave it to a background process, print the tree's id, and exit once the task is durable"],
  ],
  hidden: ["--detached"],
  memory: true,
  help: `
Examples:
  errand run "where is the store opened?"
  errand run --model anthropic/… "explain the tests"
  errand run --model openai-compatible/NAME --base-url http://127.0.0.1:1234/v1 "explain the tests"
  errand run --agent researcher "which files open the store?"
  git diff | errand run "review this change" > review.txt
  answer=$(errand run "which files open the store?")
  errand run --json "list the tests" | jq -r 'select(.type == "answer").text'
  tree=$(errand run --detach "explain the tests"); errand logs -f "$tree"

The first line says which model is used, and why. A terminal shows the tree of agents and the text as it is written,
with its Markdown; with NO_COLOR the text is as it was written. Elsewhere each change is a line on standard error, and
standard output holds only the answer: what the agent ended its turns with, and messages of its children that it did
not pass on itself. Words beside a tool call are commentary, on standard error. With --json, text comes in pieces too.
Ctrl-C cancels and says what is kept; a second one leaves at once. With --detach the work survives the terminal: ps,
logs -f, cancel and result find it. It prints to background-log beside the folder's stores (errand stores), or to
STORE-log of a named file.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
  load: async () => (await import("./run.ts")).runCommand,
};
