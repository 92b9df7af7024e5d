/** Every command, in the order of the help. */

import type { Command } from "./command.ts";

const ALLOW = [
  "--allow <calls>",
  'calls that need no permission: tools, perhaps with a path or a command, as in "write_file:docs/**,run_command:npm test"',
] as const;
const BASE_URL = ["--base-url <url>", "where openai-compatible/NAME is"] as const;
const TREE_OR_RUN = "a tree or a run, by its id or any unique beginning of it";

export const COMMANDS: readonly Command[] = [
  {
    name: "run",
    description: "give a task to an agent that delegates parts of it, and print its answer",
    args: [["[task]", "the task; - reads it from standard input; without one, a demonstration"]],
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
  git diff | errand run - > answer.txt
  errand run --json "list the tests" | jq -r 'select(.type == "answer").text'
  tree=$(errand run --detach "explain the tests"); errand logs -f "$tree"

Which model is used, and why, is said first. In a terminal the tree of agents is drawn while it works. Elsewhere each
change is a line on standard error, and standard output holds the answer alone. Ctrl-C once cancels and says what is
kept; twice leaves at once. With --detach the work survives the terminal: ps, logs -f, cancel and result find it, and
what it prints is in STORE-log (of a database, in .errand/background-log).

Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
    load: async () => (await import("./commands/run.ts")).runCommand,
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
    load: async () => (await import("./commands/chat.ts")).chatCommand,
  },
  {
    name: "ps",
    description: "list the trees that have something to do",
    args: [],
    options: [["-a, --all", "those at rest, closed and expired too"]],
    help: `
Examples:
  errand ps
  errand ps --all --json | jq -r .id

It only reads, and works while another process owns the store.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/ps.ts")).psCommand,
  },
  {
    name: "show",
    description: "show a tree with its runs, or a run with its task and result",
    args: [["<id>", TREE_OR_RUN, "ids"]],
    options: [],
    help: `
Examples:
  errand show 019a8f3c
  errand show --json 019a8f3c-51d2-7001 | jq -r .result

It only reads, and works while another process owns the store.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/show.ts")).showCommand,
  },
  {
    name: "logs",
    description: "print the facts of a tree's journal, one a line",
    args: [["<tree>", TREE_OR_RUN, "ids"]],
    options: [["-f, --follow", "go on with those to come, until the tree is closed or Ctrl-C"]],
    help: `
Examples:
  errand logs 019a8f3c
  errand logs -f 019a8f3c
  errand logs --json 019a8f3c | jq -c '.facts[] | select(.type == "run-ended")'

It only reads, and works while another process owns the store. With --json a line is a row of the journal.
Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted.
`,
    load: async () => (await import("./commands/logs.ts")).logsCommand,
  },
  {
    name: "result",
    description: "print the whole findings of a run that has ended, or what a tree answered last",
    args: [["<id>", TREE_OR_RUN, "ids"]],
    options: [],
    help: `
Examples:
  errand result 019a8f3c-51d2-7001 > findings.txt
  errand result 019a8f3c

How a run ended is said on standard error; the exit code is 0 whenever there are findings to print. A tree has an answer
once it is at rest; one whose last turn failed is exit 1.
Exit codes: 0 done, 1 failed or not ended, 2 wrong use.
`,
    load: async () => (await import("./commands/result.ts")).resultCommand,
  },
  {
    name: "send",
    description: "send a message to an agent",
    args: [
      ["<agent>", "a tree for its root agent, or a run for its child, by an id or any unique beginning of it", "ids"],
      ["<text>", "the message; - reads it from standard input"],
    ],
    options: [],
    help: `
Examples:
  errand send 019a8f3c "and look at the tests too"
  git diff | errand send 019a8f3c -

Where a process owns the store, that process takes the message and works on it. Where none does, the message is kept,
and errand resume goes on with it.
Exit codes: 0 the message is durable, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/send.ts")).sendCommand,
  },
  {
    name: "answer",
    description: "list the calls that wait for your permission, or allow or refuse one",
    args: [
      [
        "[question]",
        "a question, by its id or any unique beginning of it; without one, those that are open are listed",
      ],
      ["[answer]", "yes or no"],
      ["[note]", "what the agent should know about your refusal"],
    ],
    options: [],
    help: `
Examples:
  errand answer
  errand answer 019a8f3c yes
  errand answer 019a8f3c no "use the staging database"

A run that asks waits, and costs nothing, until it is answered. Where a process owns the store it goes on at once; where none
does, the answer is kept, and errand resume goes on with it.
Exit codes: 0 listed, or the answer is durable, 1 failed or not open, 2 wrong use.
`,
    load: async () => (await import("./commands/answer.ts")).answerCommand,
  },
  {
    name: "cancel",
    description: "cancel a run and everything below it, or all that a tree does",
    args: [["<id>", TREE_OR_RUN, "ids"]],
    options: [],
    help: `
Examples:
  errand cancel 019a8f3c
  errand cancel 019a8f3c-51d2-7001

Where a process owns the store it is asked to; where none does, this command cancels what an earlier process left.
Exit codes: 0 cancelled or asked for, 1 failed or nothing to cancel, 2 wrong use.
`,
    load: async () => (await import("./commands/cancel.ts")).cancelCommand,
  },
  {
    name: "resume",
    description: "take up what an earlier process left unfinished, and stay until it is done",
    args: [["[tree]", "only show this one, and release it if it is quarantined", "trees"]],
    options: [BASE_URL, ["--timeout <seconds>", "cancel the work when it takes longer, and exit with 3"]],
    help: `
Examples:
  errand resume
  errand resume 019a8f3c

It owns the store while it runs.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
    load: async () => (await import("./commands/resume.ts")).resumeCommand,
  },
  {
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
  DATABASE_URL=postgres://user@host/errand errand worker
  errand worker --store postgres://user@host/errand --json

Any number of workers, on any number of machines, share a PostgreSQL database. Each takes trees that have something to do and that
nobody runs: mail that came, a time that was reached, what a dead process left. SIGTERM lets its trees go, and the others go on
with them at once; after a crash they do so within seconds.
Exit codes: 0 stopped by SIGTERM, 1 failed, 2 wrong use, 130 interrupted.
`,
    load: async () => (await import("./commands/worker.ts")).workerCommand,
  },
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
    load: async () => (await import("./commands/fork.ts")).forkCommand,
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
    load: async () => (await import("./commands/export.ts")).exportCommand,
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
    load: async () => (await import("./commands/replay.ts")).replayCommand,
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
  errand migrate --from .errand/errand.db --to postgres://user@host/database
  errand migrate --finish --store postgres://user@host/database

A move is compared row by row, and every journal is proven on both sides. Until all of it is there nobody can work on the
trees in the database; from then on nobody can work on the file, which is kept and says where they went. A move that was
interrupted goes on when it is started again. After an upgrade, --finish comes last, when every process runs the new version.
Exit codes: 0 done or nothing to do, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/migrate.ts")).migrateCommand,
  },
  {
    name: "doctor",
    description: "look at everything Errand needs, and say how to mend what is wrong",
    args: [],
    options: [["--base-url <url>", "the service of openai-compatible models, to see whether it answers"]],
    help: `
Examples:
  errand doctor
  errand doctor --store /data/errand.db
  errand doctor --json | jq -r 'select(.level == "broken") | .name'

It looks at Node.js, SQLite, the disk, the store and its owner, keys, packages, Ollama, the services that keys are there
for, and the terminal. It asks each service for an answer, and sends no key. No key is printed.
Exit codes: 0 nothing is broken, 1 something is, 2 wrong use.
`,
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "agents",
    description: "list the agents and skills that can be used here, with their files and warnings",
    args: [["[name]", "show this one whole, with its prompt"]],
    options: [],
    help: `
Examples:
  errand agents
  errand agents researcher
  errand agents --json | jq -r 'select(.needsTrust) | .source'

Those of this folder go before those of your home, and these before the built-in ones. What asks for commands, hooks,
servers or base URLs is not used before you trust it: errand trust.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/agents.ts")).agentsCommand,
  },
  {
    name: "trust",
    description: "agree to what the files of a folder ask for, as they are now",
    args: [["[folder]", "the folder; without one, the current one"]],
    options: [
      ["--list", "list what is trusted"],
      ["--revoke", "trust the folder no longer"],
    ],
    ownSettings: true,
    help: `
Examples:
  errand agents
  errand trust
  errand trust --list
  errand trust --revoke ~/projects/sample

A file that is changed afterwards, or a new one, asks again. What is trusted is kept in your own configuration folder.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/trust.ts")).trustCommand,
  },
  {
    name: "config",
    description: "list the settings and where they come from; read, set or unset one",
    args: [
      ["[action]", "get, set or unset; without one, all settings are listed"],
      ["[key]", "a setting"],
      ["[value]", "its value; none for no value"],
    ],
    options: [["--global", "set or unset it for you, wherever you are, instead of for this folder"]],
    ownSettings: true,
    help: `
Examples:
  errand config
  errand config get model
  errand config set --global model ollama/qwen3
  errand config set limits.costPerTree 2000000
  errand config unset limits.costPerTree

A flag goes before the environment, that before the folder's .errand/config.json, that before your own config.json. What
a folder sets and you did not agree to is listed and not used: errand trust.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/config.ts")).configCommand,
  },
  {
    name: "completion",
    description: "print a script that lets your shell complete commands, options and ids",
    args: [["<shell>", "bash, zsh or fish; trees and ids print what the script asks for", ["bash", "zsh", "fish"]]],
    options: [],
    help: `
Examples:
  errand completion bash >> ~/.bashrc
  errand completion zsh > "\${fpath[1]}/_errand"
  errand completion fish > ~/.config/fish/completions/errand.fish

For this shell alone: source <(errand completion bash), the same with zsh, or errand completion fish | source.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("./commands/completion.ts")).completionCommand,
  },
];
