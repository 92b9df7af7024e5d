import { type Command, TREE_OR_RUN } from "../../command.ts";

export const REPLAY: Command = {
  name: "replay",
  description: "prove a journal: decide everything again, call nothing, compare every byte",
  args: [["<source>", `${TREE_OR_RUN}; an exported file; - for standard input`, "ids and files"]],
  options: [],
  help: `
Examples:
  errand replay 3f9c21
  errand replay tree.jsonl
  gunzip < tree.jsonl.gz | errand replay -

It calls no model, no tool and no network, and works while another process owns the store. The first difference is
shown with its row, the line of the file, and both sides.
Exit codes: 0 proven or intact, 1 broken or failed, 2 wrong use.
`,
  load: async () => (await import("./replay.ts")).replayCommand,
};
