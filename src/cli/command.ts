/** A command: its help, and the action that runs it. */

import type { Runner } from "../contracts/runner.ts";
import type { ModelProvider } from "../contracts/model.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import type { Settings } from "./settings/settings.ts";
import type { StoreScope } from "./store/scope.ts";

/** What a program gives that runs the command line inside its own process. */
export interface ProgramParts {
  /** The providers of models beside the offline ones. `baseUrl` is the one that the user chose. */
  readonly models?: (baseUrl: string | undefined) => readonly ModelProvider[];
  /** How agents with a `runner` are executed outside this process. */
  readonly runners?: readonly Runner[];
}

/** The options of all commands. A command reads those that it declares. */
export interface CommandOptions {
  /** As it was typed. The stores that a command works with are in its `scope`. */
  readonly store?: string;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly model?: string;
  readonly timeout?: string;
  readonly agent?: string;
  readonly at?: string;
  readonly out?: string;
  readonly all?: boolean;
  readonly follow?: boolean;
  readonly allow?: string;
  readonly baseUrl?: string;
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly global?: boolean;
  readonly detach?: boolean;
  readonly detached?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly finish?: boolean;
  readonly seen?: string;
  readonly write?: boolean;
}

export interface CommandCall {
  /** The arguments in order; undefined if one was left out. */
  readonly args: readonly (string | undefined)[];
  readonly options: CommandOptions;
  /** The stores that it works with. */
  readonly scope: StoreScope;
  readonly host: Host;
  readonly models: readonly ModelProvider[];
  readonly runners: readonly Runner[];
  /** All commands, for one that needs to know the others. */
  readonly commands: readonly Command[];
  /** The settings of files and variables. `options` has the typed value, else the value of a setting. */
  readonly settings: Settings;
}

/** Does the command's work. The program prints what it throws. */
export type CommandAction = (call: CommandCall) => Promise<ExitCode>;

/** What a shell can offer for an argument: ids from the store, files, or these words. */
export type Offered = "trees" | "ids" | "ids and files" | readonly string[];

export interface Command {
  readonly name: string;
  readonly description: string;
  /** As commander writes them: `<needed>`, `[optional]`; what they mean; and what a shell can offer for them. */
  readonly args: readonly (readonly [name: string, meaning: string, offered?: Offered])[];
  /** Beside `--store`, `--json` and `--debug`, which every command has: flags, meaning, default. */
  readonly options: readonly (readonly [flags: string, meaning: string, value?: string])[];
  /** Flags that Errand gives to its own processes. The help does not show them. */
  readonly hidden?: readonly string[];
  /** Flags of the options that must be given. */
  readonly needed?: readonly string[];
  /** True if it can work with a store in memory. */
  readonly memory?: true;
  /** True if it reads the files of settings itself, also invalid ones. */
  readonly ownSettings?: true;
  /** The text after the options in the help. */
  readonly help: string;
  /** Loads the code when the command is called, so that help stays quick. */
  load(): Promise<CommandAction>;
}

/** Options of every command, after its own. */
export const COMMON_OPTIONS = [
  ["--store <path>", "a store's file or PostgreSQL URL; without it, those of this folder"],
  ["--json", "print one JSON object a line instead"],
  ["--debug", "print the stack of an error"],
] as const;

export const ALLOW = [
  "--allow <calls>",
  "calls that need no permission: tools, perhaps with a path or a command, " +
    'as in "write_file:docs/**,run_command:npm test"',
] as const;
export const BASE_URL = ["--base-url <url>", "where openai-compatible/NAME is"] as const;
/** How an id can be typed. */
const PART_OF_ID = "by its id or a unique beginning or end of it";
export const BY_ID = `${PART_OF_ID}; last is the newest`;
export const TREE_OR_RUN = `a tree or a run, ${PART_OF_ID}; last is the newest tree, last/2 its second run`;
