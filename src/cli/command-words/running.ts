/** Giving agents work. */

import type { Command } from "../command.ts";
import { ALLOW, BASE_URL } from "./shared.ts";

export const RUNNING: readonly Command[] = [
  {
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

Which model is used, and why, is said first. In a terminal the tree of agents is drawn while it works. Elsewhere each
change is a line on standard error, and standard output holds the answer alone: what the agent ended its turns with, and
messages of its children that it did not pass on itself. Words beside a tool call are commentary, on standard error.
Ctrl-C once cancels and says what is kept; twice leaves at once. With --detach the work survives the terminal: ps,
logs -f, cancel and result find it, and what it prints is in background-log beside the folder's stores (errand stores),
or in STORE-log of a named file.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
    load: async () => (await import("../commands/run.ts")).runCommand,
  },
  {
    name: "chat",
    description: "talk with an agent that delegates, at the keyboard or line by line",
    args: [["[tree]", "go on with this conversation, by its id or any unique beginning of it", "trees"]],
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
  errand chat 019a8f3c
  errand chat --model anthropic/… --agent researcher
  printf 'where is the store opened?\\nand closed?\\n' | errand chat

In a terminal Enter sends, Alt-Enter begins another line, up brings back what you wrote, and /help tells the rest. Ctrl-C
cancels what is under way, at the prompt it leaves; Ctrl-D leaves and says how to come back. Elsewhere, and with --json, a
line of standard input is a message, and its answer is on standard output before the next line is read.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit, 130 interrupted.
`,
    load: async () => (await import("../commands/chat.ts")).chatCommand,
  },
  {
    name: "demo",
    description: "see a process killed at work, and another one finish its job; offline",
    args: [],
    options: [],
    help: `
Examples:
  errand demo
  errand demo --store demo.db && errand ps --all --store demo.db

An agent and four children look into the current folder, with a model that needs no key. After two children have ended the
process that runs them is killed with SIGKILL; a new one goes on where it stopped. At the end the journal is counted and
replayed. It takes less than 15 seconds, and leaves nothing behind, unless --store names a file for the journal, which
must not be there yet.

Exit codes: 0 the promise was kept, 1 it was not, or something failed, 2 wrong use, 130 interrupted.
`,
    load: async () => (await import("../commands/demo.ts")).demoCommand,
  },
];
