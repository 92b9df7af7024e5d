/** The options of the project's own commands: their values, their help, and an error of one line for wrong use. */

import { parseArgs } from "node:util";

/** `count`: a whole number. `many`: may be repeated. The default of a flag is false, of `many` an empty list. */
type Option =
  | { readonly kind: "flag"; readonly help: string }
  | { readonly kind: "count"; readonly help: string; readonly default?: number }
  | { readonly kind: "text"; readonly help: string; readonly default?: string }
  | { readonly kind: "many"; readonly help: string };

type Options = Readonly<Record<string, Option>>;

type Value<One extends Option> = One extends { kind: "flag" }
  ? boolean
  : One extends { kind: "many" }
    ? readonly string[]
    : (One extends { kind: "count" } ? number : string) | (One extends { default: unknown } ? never : undefined);

interface Command {
  /** For example `npm run simulate --`. */
  readonly name: string;
  readonly does: string;
  readonly examples: readonly string[];
}

/** The values of the options. Ends the process after printing the help, or with 2 after an error. */
export function commandOptions<const Known extends Options>(
  command: Command,
  known: Known,
  args = process.argv.slice(2),
): { readonly [Name in keyof Known]: Value<Known[Name]> } {
  const read = readOptions(command, known, args);
  if ("values" in read) return read.values;
  if ("help" in read) process.stdout.write(read.help);
  else process.stderr.write(`errand: ${read.problem}\nAll options: ${command.name} --help\n`);
  return process.exit("help" in read ? 0 : 2);
}

type ReadOptions<Known extends Options> =
  | { readonly values: { readonly [Name in keyof Known]: Value<Known[Name]> } }
  | { readonly help: string }
  | { readonly problem: string };

const WHOLE = /^\d{1,15}$/;

export function readOptions<const Known extends Options>(
  command: Command,
  known: Known,
  args: readonly string[],
): ReadOptions<Known> {
  const parsed = parse(known, args);
  if (typeof parsed === "string") return { problem: parsed };
  if (parsed["help"] === true) return { help: help(command, known) };
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(known)) {
    const given = parsed[name];
    if (option.kind === "flag") values[name] = given === true;
    else if (option.kind === "many") values[name] = given ?? [];
    else if (typeof given !== "string") values[name] = option.default;
    else if (option.kind === "text") values[name] = given;
    else {
      if (!WHOLE.test(given)) return { problem: `--${name} takes a whole number, not "${given}".` };
      values[name] = Number(given);
    }
  }
  return { values: values as { readonly [Name in keyof Known]: Value<Known[Name]> } };
}

/** The options by name, or an error. */
function parse(known: Options, args: readonly string[]): Readonly<Record<string, unknown>> | string {
  const options = Object.entries(known).map(([name, { kind }]) => {
    const type = kind === "flag" ? ("boolean" as const) : ("string" as const);
    return [name, { type, multiple: kind === "many" }] as const;
  });
  try {
    const help = { type: "boolean", short: "h" } as const;
    return parseArgs({ args: [...args], options: { ...Object.fromEntries(options), help } }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The rest of Node's message is advice about names that begin with a dash.
    return `${error.message.split(". ")[0]?.replace(/\.$/, "")}.`;
  }
}

function help({ name, does, examples }: Command, known: Options): string {
  const named = Object.entries(known).map(([option, { kind, help: text, ...rest }]) => {
    const left = `--${option}${kind === "flag" ? "" : kind === "count" ? " N" : " TEXT"}`;
    const usual = "default" in rest && rest.default !== undefined ? ` Default: ${rest.default}.` : "";
    return { left, right: text + usual };
  });
  const width = Math.max(...named.map(({ left }) => left.length));
  return [
    `${name} [options]`,
    does,
    "",
    ...named.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`),
    "",
    ...examples.map((example) => `  ${name} ${example}`),
    "",
  ].join("\n");
}
