/** Words that several commands have in common. */

export const ALLOW = [
  "--allow <calls>",
  'calls that need no permission: tools, perhaps with a path or a command, as in "write_file:docs/**,run_command:npm test"',
] as const;
export const BASE_URL = ["--base-url <url>", "where openai-compatible/NAME is"] as const;
export const TREE_OR_RUN = "a tree or a run, by its id or any unique beginning of it";
