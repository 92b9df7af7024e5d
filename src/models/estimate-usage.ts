/** Owns the guess of a call's tokens where no provider counts them: four characters a token, the same for the same words. */

import type { ModelRequest } from "../contracts/model.ts";
import type { ReplyPart, Usage } from "../core/values/message.ts";

const CHARACTERS_PER_TOKEN = 4;

export function estimateUsage(request: ModelRequest, parts: readonly ReplyPart[]): Usage {
  return {
    input: tokens(request.system.length + JSON.stringify([request.tools, request.messages]).length),
    output: tokens(
      parts.reduce(
        (length, part) =>
          length + (part.type === "tool-call" ? JSON.stringify([part.name, part.input]) : part.text).length,
        0,
      ),
    ),
  };
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
