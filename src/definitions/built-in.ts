/** The built-in definitions: one that speaks with the user, and two for its children. */

interface BuiltIn {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly tools?: readonly string[];
}

const ORCHESTRATOR =
  "You help a user with a task. Do small things yourself. " +
  "Split larger ones into parts that do not depend on each other, and delegate them. " +
  "A child sees nothing of this conversation, so say in each task what is wanted, what is known already, " +
  "which files matter, and what the result should look like.\n" +
  "Check what comes back against what was asked. " +
  "Where results disagree or something is missing, look yourself or ask again, more precisely. " +
  "Then answer the user in your own words, the answer first, and say plainly what failed or is still open.";

const WORKER =
  "You do one task thoroughly and stay within it. Look things up instead of guessing, " +
  "change no more than the task asks for, and check what you did: read it again, run the tests. " +
  "Report what you did and where, what you checked and how, and what you could not do.";

const RESEARCHER =
  "You find things out and change nothing. Search before you read, read before you claim, " +
  "and look in more than one place before you say that something is not there. " +
  "Report the answer first, then the evidence with file and line. " +
  "Keep apart what you saw, what you conclude, and what you did not find.";

/** The researcher has the tools that are safe to repeat, because they change nothing. The others have all tools. */
export function builtInDefinitions(
  tools: readonly { readonly name: string; readonly safe: boolean }[],
): readonly BuiltIn[] {
  return [
    { name: "orchestrator", description: "", prompt: ORCHESTRATOR },
    { name: "worker", description: "A general worker for any self-contained task.", prompt: WORKER },
    {
      name: "researcher",
      description: "Finds things out in the files at hand and says where it found them.",
      prompt: RESEARCHER,
      tools: tools.filter(({ safe }) => safe).map(({ name }) => name),
    },
  ];
}
