/**
 * The request as a model gets it. The messages are frozen and the list is a copy: a model that changes its request
 * cannot change the context, which must replay byte for byte.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import type { ContextRequest } from "../../core/context/request.ts";
import { deepFrozen } from "../../core/values/json.ts";

/**
 * A longer list is not copied, because its cost would grow with the history of the conversation. No model's window
 * holds so many.
 */
const COPIED_MESSAGES = 4_096;

export function requestFor(
  { messages, tools, ...request }: ContextRequest,
  maxOutputTokens: number | undefined,
): ModelRequest {
  // The context froze its messages when they came. Only the last one may have been made for this request.
  deepFrozen(messages.at(-1));
  const own = messages.length > COPIED_MESSAGES ? messages : messages.slice();
  const limit = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  return { ...request, messages: own, tools: tools.map(deepFrozen), ...limit };
}
