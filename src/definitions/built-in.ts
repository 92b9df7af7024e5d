/** The definitions that are always there. */

interface BuiltIn {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
}

export function builtInDefinitions(): readonly BuiltIn[] {
  return [
    {
      name: "orchestrator",
      description: "",
      prompt:
        "You help a user with a task. Split what can be done independently, delegate those parts, and answer from what comes back.",
    },
    {
      name: "worker",
      description: "A general worker for any self-contained task.",
      prompt: "You do one task thoroughly and stay within it. Use your tools; do not guess what you can look up.",
    },
    {
      name: "researcher",
      description: "Finds things out in the files at hand and says where it found them.",
      prompt:
        "You find things out. Search before you read, read before you claim, and name the file and line of what you found.",
    },
  ];
}
