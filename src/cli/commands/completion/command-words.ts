/** The command line as completion scripts need it: every command with its options, as words. */

import { type Command, COMMON_OPTIONS, type Offered } from "../../command.ts";

export interface OptionWords {
  /** `--out`, and `-o` if it has a short form. */
  readonly long: string;
  readonly short: string | null;
  readonly meaning: string;
  /** What its value is: a file, something else, or null when it takes none. */
  readonly value: "file" | "other" | null;
}

export interface CommandWords {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionWords[];
  /** What is offered for each argument, in order; null for a text. */
  readonly args: readonly (Offered | null)[];
}

const HELP = ["-h, --help", "print this help"] as const;

export function commandWords({ name, description, options, args }: Command): CommandWords {
  return {
    name,
    description,
    options: [...options, ...COMMON_OPTIONS, HELP].map(([flags, meaning]) => optionWords(flags, meaning)),
    args: args.map(([, , offered]) => offered ?? null),
  };
}

/** From flags as commander writes them, such as `-o, --out <file>`. */
function optionWords(flags: string, meaning: string): OptionWords {
  const [, short = null, long = "", value] = /^(?:(-\w), )?(--[\w-]+)(?: [<[](.+)[>\]])?$/.exec(flags) ?? [];
  return { long, short, meaning, value: value === undefined ? null : /^(path|file)$/.test(value) ? "file" : "other" };
}

/** All spellings of options that take a value, of a kind if one is given. */
export function valued(commands: readonly CommandWords[], kind?: "file"): readonly string[] {
  const names = commands.flatMap(({ options }) =>
    options
      .filter(({ value }) => (kind === undefined ? value !== null : value === kind))
      .flatMap(({ long, short }) => (short === null ? [long] : [long, short])),
  );
  return [...new Set(names)];
}
