/** A scripted model of the AI SDK (`LanguageModelV3`), for the two libraries that take one. */

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

const outputText = (output) =>
  typeof output?.value === "string" ? output.value : JSON.stringify(output?.value ?? output);

/** The newest user message, or the results after the last reply. */
function lastOf(prompt) {
  const from = prompt.findLastIndex((message) => message.role !== "tool") + 1;
  if (from < prompt.length) {
    const parts = prompt.slice(from).flatMap((message) => message.content);
    return {
      text: "",
      results: parts.filter((part) => part.type === "tool-result").map((part) => outputText(part.output)),
    };
  }
  const text = prompt
    .at(-1)
    .content.map((part) => part.text ?? "")
    .join("");
  return { text, results: null };
}

/** `script` returns `{ text }` or `{ name, inputs }` for the end of the context. */
export function aiSdkModel(modelId, script) {
  function reply(prompt) {
    const said = script(lastOf(prompt), prompt);
    if (said.text !== undefined) return { content: [{ type: "text", text: said.text }], unified: "stop" };
    const content = said.inputs.map((input, index) => ({
      type: "tool-call",
      toolCallId: `call_${prompt.length}_${index}`,
      toolName: said.name,
      input: JSON.stringify(input),
    }));
    return { content, unified: "tool-calls" };
  }
  return {
    specificationVersion: "v3",
    provider: "scripted",
    modelId,
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const { content, unified } = reply(prompt);
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
    async doStream({ prompt }) {
      const { content, unified } = reply(prompt);
      const parts = content.flatMap((part) =>
        part.type === "text"
          ? [
              { type: "text-start", id: "0" },
              { type: "text-delta", id: "0", delta: part.text },
              { type: "text-end", id: "0" },
            ]
          : [part],
      );
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          for (const part of parts) controller.enqueue(part);
          controller.enqueue({ type: "finish", finishReason: { unified, raw: unified }, usage });
          controller.close();
        },
      });
      return { stream };
    },
  };
}
