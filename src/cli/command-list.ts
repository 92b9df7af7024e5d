/** Every command, in the order of the help. */

import type { Command } from "./command.ts";
import { AGENTS } from "./commands/agents/words.ts";
import { ANSWER } from "./commands/answer/words.ts";
import { CANCEL } from "./commands/cancel/words.ts";
import { CHAT } from "./commands/chat/words.ts";
import { COMPLETION } from "./commands/completion/words.ts";
import { CONFIG } from "./commands/config/words.ts";
import { DEMO } from "./commands/demo/words.ts";
import { DOCTOR } from "./commands/doctor/words.ts";
import { EXPORT } from "./commands/export/words.ts";
import { FORK } from "./commands/fork/words.ts";
import { LOGS } from "./commands/logs/words.ts";
import { MCP } from "./commands/mcp/words.ts";
import { MIGRATE } from "./commands/migrate/words.ts";
import { PS } from "./commands/ps/words.ts";
import { REPLAY } from "./commands/replay/words.ts";
import { RESULT } from "./commands/result/words.ts";
import { RESUME } from "./commands/resume/words.ts";
import { RUN } from "./commands/run/words.ts";
import { SEND } from "./commands/send/words.ts";
import { SHOW } from "./commands/show/words.ts";
import { STORES } from "./commands/stores/words.ts";
import { TRUST } from "./commands/trust/words.ts";
import { WORKER } from "./commands/worker/words.ts";

export const COMMANDS: readonly Command[] = [
  RUN,
  CHAT,
  DEMO,
  PS,
  SHOW,
  LOGS,
  RESULT,
  SEND,
  ANSWER,
  CANCEL,
  RESUME,
  WORKER,
  MCP,
  FORK,
  EXPORT,
  REPLAY,
  MIGRATE,
  DOCTOR,
  STORES,
  AGENTS,
  TRUST,
  CONFIG,
  COMPLETION,
];
