/** The inputs that record a model's reply or failure. */

import type { ModelFailure, ModelReply } from "../../contracts/model.ts";
import type { Input } from "../../core/event.ts";
import type { StepKey } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { type ReplyPart, replyText, type Usage } from "../../core/values/message.ts";
import { errorText } from "../../errors.ts";
import { cleanText } from "./clean-text.ts";
import type { ReplyFacts } from "./call-facts.ts";
import { parseFailure } from "./parse-reply.ts";

interface Attempt {
  readonly key: StepKey;
  readonly attempt: number;
}

export interface InputWithTexts {
  readonly input: Input;
  readonly texts: readonly Json[];
}

/** The input for a parsed reply. `replaced`: arguments in whose place the reply holds others. */
export function modelRepliedInput(
  { key, attempt }: Attempt,
  reply: ModelReply,
  facts: ReplyFacts,
  replaced: readonly Json[],
): InputWithTexts {
  const parts = withUniqueCalls(reply.parts, key);
  let size = replyText(parts).length;
  for (const part of parts) if (part.type === "tool-call") size += JSON.stringify(part.input).length;
  return {
    input: {
      type: "model-replied",
      effect: key,
      attempt,
      usage: usageOfReply(reply),
      stop: reply.stop,
      size,
      facts: Object.keys(facts).length === 0 ? undefined : facts,
    },
    texts: [parts as unknown as Json, ...replaced],
  };
}

/** A call that was answered has used something: a usage of zero is no information. */
function usageOfReply({ usage }: ModelReply): Usage | null {
  return usage !== null && usage.input === 0 && usage.output === 0 ? null : usage;
}

/** Results are paired with calls by the calls' ids. Providers promise unique ids; ids that are not are replaced. */
function withUniqueCalls(parts: readonly ReplyPart[], key: StepKey): readonly ReplyPart[] {
  const seen = new Set<string>();
  let calls = 0;
  return parts.map((part) => {
    if (part.type !== "tool-call") return part;
    calls += 1;
    const id = part.id === "" || seen.has(part.id) ? `call-${key}-${calls}` : part.id;
    seen.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

export function modelFailedInput({ key, attempt }: Attempt, failure: ModelFailure): InputWithTexts {
  const { code, retryable, retryAfterMs, usage } = parseFailure(failure);
  return {
    input: {
      type: "model-failed",
      effect: key,
      attempt,
      code,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      usage,
    },
    texts: [cleanText(errorText(failure))],
  };
}
