/**
 * Owns a call of an AI SDK language model: its connection, its end, and the patience with it.
 *
 * Invariants:
 *  1. The call ends at once when it is aborted, and the connection with it; nothing is said to `onText` after that.
 *  2. However a call ends, no connection of it is left.
 *  3. It tries once: the SDK's models do not retry by themselves, and neither does this, except without a number of tokens that was refused.
 */

import type { Model, ModelCallOptions, ModelFailure, ModelReply, ModelRequest } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import {
  abortedFailure,
  callFailure,
  cutFailure,
  failedFailure,
  outputRefusalIs,
  silenceFailure,
} from "./call-failure.ts";
import type { LanguageModel } from "./language-model.ts";
import { promptOf, toolsOf } from "./prompt.ts";
import { providerHabits } from "./provider-habits.ts";
import { createReplyAssembly, type ReplyAssembly } from "./reply-assembly.ts";
import { createWatchdog, type Patience, type Watchdog } from "./watchdog.ts";

export interface AiSdkModelOptions extends Partial<Patience> {
  /** `provider/model`, as errors say it. The provider's data in replies is kept under it: keep it stable. */
  readonly name: string;
  /** For the watchdog's timers. Left out: a silent stream is waited for as long as the caller does. */
  readonly world?: World;
}

const SILENCE_MS = 120_000;
const STANDSTILL_MS = 600_000;

export function createAiSdkModel(languageModel: LanguageModel, options: AiSdkModelOptions): Model {
  const { name, world, silenceMs = SILENCE_MS, standstillMs = STANDSTILL_MS } = options;
  const habits = providerHabits(languageModel);

  function failureOf(error: unknown, streaming: boolean, assembly: ReplyAssembly): ModelFailure {
    return callFailure(error, { model: name, usage: assembly.usage(), now: world?.wall(), streaming });
  }

  /** A server that refuses so high a number of tokens is asked again without it: a refused request costs nothing, and the runtime bounds the reply. */
  async function begin(
    request: ModelRequest,
    cut: AbortSignal,
  ): Promise<Awaited<ReturnType<LanguageModel["doStream"]>>> {
    const call = {
      prompt: promptOf(request, name, habits.system),
      ...(request.tools.length === 0 ? {} : { tools: toolsOf(request.tools, habits.omitsNoProperties === true) }),
      ...(habits.call === undefined ? {} : { providerOptions: habits.call }),
      abortSignal: cut,
      includeRawChunks: true,
    };
    if (request.maxOutputTokens === undefined) return languageModel.doStream(call);
    try {
      return await languageModel.doStream({ ...call, maxOutputTokens: request.maxOutputTokens });
    } catch (error) {
      if (!outputRefusalIs(error)) throw error;
      return languageModel.doStream(call);
    }
  }

  async function streamed(
    request: ModelRequest,
    cut: AbortSignal,
    assembly: ReplyAssembly,
    watchdog: Watchdog | null,
  ): Promise<ModelReply> {
    let streaming = false;
    try {
      const { stream } = await begin(request, cut);
      streaming = true;
      const reader = stream.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || cut.aborted) break;
        if (value.type === "error") throw failureOf(value.error, true, assembly);
        // Not inside the call of the watchdog, which there may not be.
        const progress = assembly.take(value);
        watchdog?.heard(progress);
      }
    } catch (error) {
      throw failureOf(error, streaming, assembly);
    }
    const reply = assembly.reply();
    if (reply === "cut") throw cutFailure(name, assembly.usage());
    if (reply === "failed") throw failedFailure(name, assembly.usage());
    return reply;
  }

  return {
    async call(request: ModelRequest, options: ModelCallOptions) {
      const { signal } = options;
      if (signal.aborted) throw abortedFailure(name, null);
      const cut = new AbortController();
      const { promise: stopped, reject } = Promise.withResolvers<never>();
      const stop = (failure: ModelFailure): void => {
        reject(failure);
        cut.abort(failure);
      };
      const assembly = createReplyAssembly(name, options);
      const onAbort = (): void => stop(abortedFailure(name, assembly.usage()));
      signal.addEventListener("abort", onAbort, { once: true });
      const watchdog =
        world === undefined
          ? null
          : createWatchdog(world, { silenceMs, standstillMs }, (ms) =>
              stop(silenceFailure(name, ms, assembly.usage())),
            );
      try {
        return await Promise.race([streamed(request, cut.signal, assembly, watchdog), stopped]);
      } finally {
        signal.removeEventListener("abort", onAbort);
        watchdog?.stop();
        cut.abort();
      }
    },
  };
}
