/** Every command, in the order of the help. What each is called, takes and says of itself stands in `command-words`. */

import type { Command } from "./command.ts";
import { HISTORIES } from "./command-words/histories.ts";
import { LOOKING } from "./command-words/looking.ts";
import { RUNNING } from "./command-words/running.ts";
import { SETTING_UP } from "./command-words/setting-up.ts";
import { STEERING } from "./command-words/steering.ts";

export const COMMANDS: readonly Command[] = [...RUNNING, ...LOOKING, ...STEERING, ...HISTORIES, ...SETTING_UP];
