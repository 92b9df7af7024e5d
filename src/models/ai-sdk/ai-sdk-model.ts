/**
 * One call of an AI SDK language model, from its connection to its end.
 *
 * Invariants:
 *  1. An abort ends the call and its connection at once. `onText` is not called after it.
 *  2. No connection stays open after a call, whatever its end.
 *  3. A failed call is not repeated, because the runtime does that. There is one exception: if the server refuses the
 *     number of reply tokens, the request is sent again without it.
 */

import { type Model, ModelFailure, type ModelReply, type ModelRequest } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { callFailure, tokenLimitRefused } from "./call-failure.ts";
import { promptOf, toolsOf } from "./prompt.ts";
import { type LanguageModel, providerSettings } from "./provider-settings.ts";
import { createReplyAssembly, type ReplyAssembly } from "./reply-assembly.ts";
import { createStreamTimeout, type StreamTimeout } from "./stream-timeout.ts";

/**
 * `name` is `provider/model`. Errors show it, and recorded replies keep the provider's data under it, so it must not
 * change. Without `world` there is no limit on the silence of a stream.
 */
export function createAiSdkModel(languageModel: LanguageModel, name: string, world?: World): Model {
  const settings = providerSettings(languageModel);

  async function openStream(request: ModelRequest, abortSignal: AbortSignal) {
    const call = {
      prompt: promptOf(request, name, settings.systemOptions),
      ...(request.tools.length === 0 ? {} : { tools: toolsOf(request.tools, settings.omitsEmptyProperties === true) }),
      ...(settings.callOptions === undefined ? {} : { providerOptions: settings.callOptions }),
      abortSignal,
      includeRawChunks: true,
    };
    if (request.maxOutputTokens === undefined) return languageModel.doStream(call);
    try {
      return await languageModel.doStream({ ...call, maxOutputTokens: request.maxOutputTokens });
    } catch (error) {
      // A refused request costs nothing, and the runtime limits the reply in any case.
      if (!tokenLimitRefused(error)) throw error;
      return languageModel.doStream(call);
    }
  }

  async function readReply(
    request: ModelRequest,
    signal: AbortSignal,
    assembly: ReplyAssembly,
    timeout: StreamTimeout | null,
  ): Promise<ModelReply> {
    let streaming = false;
    try {
      const { stream } = await openStream(request, signal);
      streaming = true;
      const reader = stream.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) break;
        if (value.type === "error") throw value.error;
        const progress = assembly.take(value);
        timeout?.received(progress);
      }
    } catch (error) {
      throw callFailure(error, { model: name, usage: assembly.usage(), now: world?.wall(), streaming });
    }
    const reply = assembly.reply();
    if (reply === "incomplete") throw broken(`The stream of ${name} ended before the reply was complete.`, assembly);
    if (reply === "failed") throw broken(`${name} ended its reply with an error and gave no reason.`, assembly);
    return reply;
  }

  return {
    async call(request, options) {
      const { signal } = options;
      const assembly = createReplyAssembly(name, options);
      const aborted = (): ModelFailure =>
        new ModelFailure("aborted", `The call of ${name} was aborted.`, { usage: assembly.usage() });
      if (signal.aborted) throw aborted();
      const connection = new AbortController();
      const { promise: stopped, reject } = Promise.withResolvers<never>();
      const stop = (failure: ModelFailure): void => {
        reject(failure);
        connection.abort(failure);
      };
      const onAbort = (): void => stop(aborted());
      signal.addEventListener("abort", onAbort, { once: true });
      const onTimeout = (ms: number): void =>
        stop(broken(`${name} sent nothing of its reply for ${ms / 1_000} seconds, and was cut off.`, assembly));
      const timeout = world === undefined ? null : createStreamTimeout(world, onTimeout);
      try {
        return await Promise.race([readReply(request, connection.signal, assembly, timeout), stopped]);
      } finally {
        signal.removeEventListener("abort", onAbort);
        timeout?.stop();
        connection.abort();
      }
    },
  };
}

/** The stream broke, which a retry may mend. */
function broken(message: string, assembly: ReplyAssembly): ModelFailure {
  return new ModelFailure("provider-error", message, { retryable: true, usage: assembly.usage() });
}
