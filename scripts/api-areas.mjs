/** The pages of the API reference: which sources each one describes, and what stands first on it. */

/** What a program can import. */
export const ENTRIES = [
  { name: "errand", source: "src/index.ts" },
  { name: "errand/mcp", source: "src/mcp/index.ts" },
  { name: "errand/testing", source: "src/testing/index.ts" },
  { name: "errand/text", source: "src/core/text/index.ts" },
];

/**
 * A name is on the page with the longest matching path. `first` are the names that stand first, in this order; the
 * others follow by their names.
 * @type {readonly {
 *   file: string,
 *   title: string,
 *   about: string,
 *   sources: readonly string[],
 *   first: readonly string[],
 * }[]}
 */
export const AREAS = [
  {
    file: "create-errand.md",
    title: "createErrand and its options",
    about: "How a program opens a store and says what its agents are.",
    sources: [
      "src/runtime/create-runtime.ts",
      "src/runtime/errand-options.ts",
      "src/runtime/definitions/",
      "src/runtime/world.ts",
      "src/contracts/world.ts",
      "src/core/permissions/",
      "src/core/values/limits.ts",
      "src/definitions/",
    ],
    first: ["createErrand", "ErrandOptions", "AgentOptions"],
  },
  {
    file: "errand.md",
    title: "Errand",
    about: "What `createErrand` gives: tasks, conversations, runs, questions, journals.",
    sources: ["src/runtime/errand.ts", "src/runtime/messages/", "src/core/journal/", "src/core/runs/", "src/runtime/"],
    first: ["Errand", "OpenAgentOptions", "Started"],
  },
  {
    file: "agent.md",
    title: "Agent",
    about: "A conversation: what `errand.openAgent`, `errand.start` and `errand.agent` give.",
    sources: [
      "src/runtime/agent.ts",
      "src/runtime/messages/posted-message.ts",
      "src/runtime/messages/turn-outcome.ts",
      "src/view/history.ts",
      "src/contracts/channel.ts",
    ],
    first: ["Agent"],
  },
  {
    file: "tasks.md",
    title: "Tasks, runs and results",
    about: "What a task or a child is given, and what comes back.",
    sources: [
      "src/runtime/tasks/",
      "src/runtime/runs.ts",
      "src/core/journal/journal.ts",
      "src/runtime/definitions/output-schema.ts",
    ],
    first: ["TaskOptions", "TaskResult", "StreamOptions", "SpawnOptions", "SpawnedRun", "RunOutcome"],
  },
  {
    file: "events.md",
    title: "Streams and events",
    about: "What happens in a tree: as readable events, as live text, and as the facts of the journal.",
    sources: ["src/runtime/tasks/event-feed.ts", "src/runtime/tasks/event-stream.ts", "src/view/", "src/core/"],
    first: ["EventStream", "StreamEvent", "ReadableEvent"],
  },
  {
    file: "tools.md",
    title: "Tools",
    about: "Tools of your own, tools of the AI SDK, and the built-in ones.",
    sources: [
      "src/contracts/tool.ts",
      "src/tools/",
      "src/runtime/definitions/define-tool.ts",
      "src/runtime/definitions/ai-sdk-tool.ts",
    ],
    first: ["tool", "ToolOptions", "ToolContext"],
  },
  {
    file: "host-tools.md",
    title: "Delegation inside other loops",
    about: "What `errand.tools` and `errand.hostTools` take and give.",
    sources: ["src/host-tools/"],
    first: ["AiSdkTools", "HostTools", "HostToolsOptions"],
  },
  {
    file: "mcp.md",
    title: "Model Context Protocol",
    about: "Host tools for MCP clients, `errand/mcp`. Its chapter is [the agents you have](../../guide/mcp.md).",
    sources: ["src/mcp/"],
    first: ["createMcpHttpHandler", "McpHttpHandler", "serveMcpOverStdio"],
  },
  {
    file: "models.md",
    title: "Models",
    about: "Where models come from, and how to write a provider.",
    sources: ["src/contracts/model.ts", "src/models/", "src/core/values/message.ts"],
    first: ["createModelRegistry", "ModelRegistryOptions", "createAiSdkModels"],
  },
  {
    file: "stores.md",
    title: "Stores",
    about: "Where journals are kept. `createErrand` opens the usual stores by their path or URL.",
    sources: ["src/contracts/store.ts", "src/contracts/store-messages.ts", "src/stores/"],
    first: ["Store", "StoreRun", "TreeRecord"],
  },
  {
    file: "runners.md",
    title: "Children outside this process",
    about: "The runner port, and the envelope and schemas of the `subagent` tool for other programs.",
    sources: ["src/contracts/runner.ts", "src/runners/", "src/core/text/prompts/"],
    first: ["Runner", "RunnerRequest", "Envelope", "envelopeRead", "envelopeWrite"],
  },
  {
    file: "errors.md",
    title: "Errors",
    about: "Every failure that Errand reports. The codes are in [Errors](../errors.md).",
    sources: ["src/errors.ts"],
    first: ["ErrandError"],
  },
  {
    file: "testing.md",
    title: "Testing",
    about: "The test kit, `errand/testing`. Its chapter is [Testing](../../guide/testing.md).",
    sources: ["src/testing/", "src/models/scripted.ts", "src/models/scripted-reply.ts"],
    first: ["createTestErrand", "TestErrandOptions", "TestErrand", "TestWorld", "misbehaving", "errandMatchers"],
  },
  {
    file: "text.md",
    title: "Texts",
    about: "The text formats that models read, `errand/text`: frames, tags, canonical JSON.",
    sources: ["src/core/text/"],
    first: ["frameBuild", "frameParse", "tagExtract"],
  },
];
