/** What a command is: its words for people, and what it does when it is called. */

import type { ModelProvider } from "../contracts/model.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import type { Settings } from "./settings/settings.ts";
import type { StoreScope } from "./store/scope.ts";

/** What the command line is given by whoever runs it in a program of their own. */
export interface ProgramParts {
  /** Where models come from, beside the offline one, given the base URL that the user chose. */
  readonly models?: (baseUrl: string | undefined) => readonly ModelProvider[];
}

/** The options of all commands, as they were typed; a command reads those that it declares. */
export interface CommandOptions {
  /** As it was typed; which stores a command is about is its `scope`. */
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
}

export interface CommandCall {
  /** The arguments, in order; those that were left out are undefined. */
  readonly args: readonly (string | undefined)[];
  readonly options: CommandOptions;
  /** The stores that it is about. */
  readonly scope: StoreScope;
  readonly host: Host;
  readonly models: readonly ModelProvider[];
  /** All of them, for a command that tells about the others. */
  readonly commands: readonly Command[];
  /** What the files and variables say; `options` holds what the command line says, or else they. */
  readonly settings: Settings;
}

/** Does the command's work. What it throws is told to the user by the program. */
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
  /** Flags that Errand gives to itself, and that no help tells of. */
  readonly hidden?: readonly string[];
  /** Flags of the options that must be given. */
  readonly needed?: readonly string[];
  /** True if it works without a file, in memory. */
  readonly memory?: true;
  /** True if it looks at the files of settings itself, also at such as cannot be used. */
  readonly ownSettings?: true;
  /** What follows the options in the help. */
  readonly help: string;
  /** Loaded when it is called, so that help stays quick. */
  load(): Promise<CommandAction>;
}

/** Every command has these too, after its own. */
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
export const TREE_OR_RUN = "a tree or a run, by its id or any unique beginning of it";
