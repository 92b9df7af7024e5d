import { type Command, TREE_OR_RUN } from "../../command.ts";

export const EXPORT: Command = {
  name: "export",
  description: "write the whole journal of a tree as one file of JSON lines",
  args: [["<tree>", TREE_OR_RUN, "ids"]],
  options: [["-o, --out <file>", "write this file, replacing it whole; without it, standard output"]],
  help: `
Examples:
  errand export 3f9c21 --out tree.jsonl
  errand export 3f9c21 | gzip > tree.jsonl.gz

The file holds every text of the tree, so only you may read it (0600). errand replay proves it anywhere.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./export.ts")).exportCommand,
};
