import type { Command } from "../../command.ts";

export const COMPLETION: Command = {
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
  load: async () => (await import("./completion.ts")).completionCommand,
};
