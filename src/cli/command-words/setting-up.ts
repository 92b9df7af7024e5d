/** The machine, the folder and the shell. */

import type { Command } from "../command.ts";

export const SETTING_UP: readonly Command[] = [
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

It looks at Node.js, SQLite, the disk, where the stores are and who owns them, keys, packages, Ollama, the services
that keys are there for, and the terminal. It asks each service for an answer, and sends no key. No key is printed.
Exit codes: 0 nothing is broken, 1 something is, 2 wrong use.
`,
    load: async () => (await import("../commands/doctor.ts")).doctorCommand,
  },
  {
    name: "stores",
    description: "list the stores of every folder, and others that may run",
    args: [],
    options: [],
    help: `
Examples:
  errand stores
  errand stores --json | jq -r 'select(.projectThere | not) | .path'
  errand ps --all --store "$(errand stores --json | jq -r .path | head -1)"

The stores of a folder are in your data folder ($XDG_DATA_HOME/errand, else ~/.local/share/errand). A folder that moved
or is gone keeps its stores there; name one with --store. With --store it lists that one alone.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/stores.ts")).storesCommand,
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
    load: async () => (await import("../commands/agents.ts")).agentsCommand,
  },
  {
    name: "trust",
    description: "agree to what a folder asks for as it is now, or to a store",
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
  errand trust --store ./from-a-colleague.db

A file that is changed afterwards, or a new one, asks again. What is trusted is kept in your own configuration folder.
With --store it shows what is in a store that your Errand did not make: trees, unfinished work, open questions, messages
that wait. In a terminal it then asks you; elsewhere the command is the agreement. From then on the store may run.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/trust.ts")).trustCommand,
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
    load: async () => (await import("../commands/config.ts")).configCommand,
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
    load: async () => (await import("../commands/completion.ts")).completionCommand,
  },
];
