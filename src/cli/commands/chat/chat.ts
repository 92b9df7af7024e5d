/** `errand chat [TREE]`: at a keyboard, or line by line. The lines of `--json` are those of `run`. */

import { chatInLines } from "./chat-in-lines.ts";
import { chatInTerminal } from "./chat-in-terminal.ts";
import { chatTarget } from "./chat-target.ts";
import type { CommandAction } from "../../command.ts";

export const chatCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const target = await chatTarget(call);
  const { screen, keys } = host;
  if (options.json === true || screen === null || keys === null) return chatInLines(call, target);
  return chatInTerminal(call, target, { screen, keys });
};
