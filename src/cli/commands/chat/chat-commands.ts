/**
 * Lines of a chat that are for Errand, not for the agent. A line that only looks like one, such as a path, is a
 * message.
 */

const COMMANDS = {
  help: "/help            these lines",
  runs: "/runs            the runs of this conversation, with their numbers",
  cancel: "/cancel RUN      cancel a run, by its number or its id",
  quit: "/quit            leave; the conversation is kept",
} as const;

export const HELP: readonly string[] = [
  ...Object.values(COMMANDS),
  "Enter sends; Alt-Enter or Ctrl-J begins another line; up and down bring back what you wrote.",
  "Ctrl-C cancels what is under way, then clears the line, then leaves; Ctrl-D leaves.",
];

export type ChatCommand = { readonly name: keyof typeof COMMANDS; readonly argument: string } | { readonly name: null };

/** Null: the line is a message. */
export function readCommand(line: string): ChatCommand | null {
  const [, name = "", argument = ""] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (name === "") return null;
  return Object.hasOwn(COMMANDS, name)
    ? { name: name as keyof typeof COMMANDS, argument: argument.trim() }
    : { name: null };
}
