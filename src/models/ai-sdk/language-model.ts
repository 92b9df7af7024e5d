/** The language models of the AI SDK, in both versions of the interface that are in use. */

import type {
  LanguageModelV3,
  LanguageModelV3StreamPart,
  LanguageModelV4,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

export type LanguageModel = LanguageModelV3 | LanguageModelV4;
export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart;
