/**
 * The public names of Errand. `test/architecture/public-names.txt` lists them. The second half are types that others
 * name in their signatures.
 */

export type { Channel, ChannelMessage } from "./contracts/channel.ts";
export { ModelFailure } from "./contracts/model.ts";
export type {
  Model,
  ModelCallOptions,
  ModelFacts,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from "./contracts/model.ts";
export type {
  EarlierAttempts,
  Runner,
  RunnerArtifact,
  RunnerEnd,
  RunnerEvents,
  RunnerFailure,
  RunnerLimits,
  RunnerMessage,
  RunnerProgress,
  RunnerQuestion,
  RunnerReport,
  RunnerRequest,
  RunnerSession,
  RunnerSettings,
  RunnerUsage,
} from "./contracts/runner.ts";
export type {
  Store,
  StoredRun as StoreRun,
  StoreReads,
  StoreWrites,
  TreeRecord,
  RunQuery,
  TreeQuery,
  TreeStatus,
} from "./contracts/store.ts";
export type { CallRules, Recovered, Tool, ToolContext, ToolOutput } from "./contracts/tool.ts";
export type { AiSdkTool, ToolRecord } from "./runtime/definitions/ai-sdk-tool.ts";
export { type InputOf, type RecoveredCall, tool, type ToolOptions } from "./runtime/definitions/define-tool.ts";
export type { CancelTimer, World } from "./contracts/world.ts";
export type { Fact } from "./core/event.ts";
export type { HistoryItem } from "./view/history.ts";
export type { RunState, RunStatus } from "./core/journal/journal.ts";
export type { Json } from "./core/values/json.ts";
export { type ArtifactKind, type LimitChoices, LIMITS, type LimitName } from "./core/values/limits.ts";
export type { ContextMessage, ReplyPart, ToolSpec, Usage } from "./core/values/message.ts";
export type { Permission, PermissionRule } from "./core/permissions/permissions.ts";
export { type ReplayDifference, type ReplayReport, replayVerdict } from "./core/journal/replay.ts";
export type { DelegationRecord } from "./core/runs/delegation-record.ts";
export {
  ENVELOPE_PROBLEMS,
  type EnvelopeProblem,
  type EnvelopeProblemCode,
  envelopeProblemIs,
  envelopeRead,
  envelopeSizeProblem,
  envelopeWrite,
} from "./runners/envelope.ts";
export { ENVELOPE_BYTES, ENVELOPE_DEPTH } from "./runners/envelope-schemas.ts";
export {
  type AnswerEnvelope,
  type Envelope,
  ENVELOPE_VERSION,
  type EnvelopeArtifact,
  type EnvelopeType,
  type EnvelopeUsage,
  type ProgressEnvelope,
  type QuestionEnvelope,
  type ReportAcceptedEnvelope,
  type ReportEnvelope,
  type ReportRefusedEnvelope,
  type RequestEnvelope,
  type ResultEnvelope,
  type SteerEnvelope,
} from "./runners/envelope-types.ts";
export { createSubprocessRunner, type SubprocessRunnerOptions } from "./runners/subprocess.ts";
export { normalisedOutput } from "./core/text/prompts/payload.ts";
export { SUBAGENT_SCHEMAS } from "./runners/published-schemas.ts";
export { createAiSdkModels } from "./models/ai-sdk/ai-sdk-models.ts";
export type { PriceTable } from "./models/prices.ts";
export { createModelRegistry, type ModelRegistryOptions } from "./models/registry/model-registry.ts";
export { readSkill } from "./definitions/skill.ts";
export { ERROR_CODES, ErrandError, type ErrorCode } from "./errors.ts";
export type { Agent, AwaitOptions } from "./runtime/agent.ts";
export type { PostOptions } from "./runtime/messages/posted-message.ts";
export type { RunOutcome, SpawnedRun, SpawnOptions, ToldRun as StoredRun } from "./runtime/runs.ts";
export type { EventStream } from "./runtime/tasks/event-stream.ts";
export type { TaskUsage, UserMessage } from "./runtime/tasks/task-reader.ts";
export type { AskOptions, OutputOf, StreamOptions, TaskOptions, TaskResult } from "./runtime/tasks/task-options.ts";
export type {
  AgentOpened,
  MessageSent,
  ModelRetrySet,
  PlacedEvent,
  QuestionAnswered,
  QuestionAsked,
  ReadableEvent,
  RunProgress,
  Rest,
  RunCreated,
  RunEnded,
  RunReported,
  RunStarted,
  RunStateChanged,
  StreamEvent,
  TextPiece,
  ToolEnded,
  ToolStarted,
  TurnEnded,
  TurnStarted,
  UsageBooked,
} from "./view/readable-event.ts";
export type { ChannelMessageKind } from "./view/channel-message.ts";
export type {
  AgentOptions,
  LanguageModelObject,
  ModelOption,
  ToolsOption,
} from "./runtime/definitions/agent-options.ts";
export type { SkillDefinition } from "./runtime/definitions/catalog.ts";
export type { AiSdkHostTool, AiSdkInputSchema, AiSdkTools } from "./host-tools/ai-sdk-tools.ts";
export type {
  HostCallOptions,
  HostCallResult,
  HostProgress,
  HostTool,
  HostLook,
  HostTools,
  HostToolsOptions,
} from "./host-tools/host-tools.ts";
export type {
  AskedQuestion,
  CutResult,
  HostListOutput,
  HostRunOutput,
  HostStatus,
  HostToolOutput,
  ListedRun,
} from "./host-tools/output-schemas.ts";
export type { TextPart } from "./host-tools/run-output.ts";
export type { HostToolAnnotations, HostToolName } from "./host-tools/tool-specs.ts";
export type { BeforeDelegation, DelegationCall, DelegationDecision } from "./runtime/effects/before-delegation.ts";
export { createErrand } from "./runtime/create-runtime.ts";
export type { ErrandOptions } from "./runtime/errand-options.ts";
export type {
  CallAnswer,
  Errand,
  GivenAnswer,
  OpenAgentOptions,
  TextAnswer,
  Started,
  TextDelta,
} from "./runtime/errand.ts";
export type { OpenQuestion } from "./runtime/messages/open-questions.ts";
export type { ChannelState } from "./runtime/messages/channel-line.ts";
export type { OutputSchema, StandardSchema } from "./runtime/definitions/output-schema.ts";
export type { TreeEvent } from "./view/tree-event.ts";
export type { Reply } from "./runtime/messages/turn-outcome.ts";
export { createSystemWorld } from "./runtime/world.ts";
export { fileTools, type RunCommandOptions, workspaceTools } from "./tools/index.ts";

export type {
  Anchor as StoreAnchor,
  Blob as StoreBlob,
  Commit as StoreCommit,
  OutboxKey,
  OwnedTree,
  PostRecord,
  SharedStore,
  Snapshot as StoreSnapshot,
  StoreWorker,
  TreeCommit,
  TreeCreation,
} from "./contracts/store.ts";
export type { Mail as StoreMail, MailPut as StoreMailPut, OutboxMessage } from "./contracts/store-messages.ts";

export type { ArgumentSchema, Property as ArgumentProperty } from "./core/delegation/arguments.ts";
export type { Decisions as DecidedFacts, FactOf, Facts, FactType, TextIndex } from "./core/event.ts";
export type {
  AgentKind,
  CallFacts,
  ErasedRow,
  FailureCode,
  Inputs as InputFacts,
  SessionInput,
  WholeResult,
} from "./core/input.ts";
export type { DeliveryState, JournalRow, ReportKind, RunMode, RunPatch, RunRecord } from "./core/journal/journal.ts";

export type { FileFacts, FileJudge, Permissions } from "./core/permissions/permissions.ts";
export type { Judgement, ProcessRights } from "./core/permissions/process-rights.ts";
export type { Artifact } from "./core/reports/report.ts";
export type {
  DefinitionFacts,
  ModelPrice,
  RunnerFacts,
  RunnerMessageKind,
  ToolFacts,
} from "./core/values/definition.ts";
export type { AgentNumber, PostId, RunNumber, StepKey, TreeId } from "./core/values/ids.ts";

export type { Limit, Limits, Settings } from "./core/values/limits.ts";
export type {
  ReasoningPart,
  TextPart as ReplyTextPart,
  ToolCallPart,
  ToolResult,
  SessionUsage,
} from "./core/values/message.ts";
export type { Skill } from "./definitions/skill.ts";
export type { ErrandErrorOptions } from "./errors.ts";
export { HOST_STATUSES } from "./host-tools/output-schemas.ts";
export type { HostToolSpec } from "./host-tools/tool-specs.ts";
export type { LanguageModel } from "./models/ai-sdk/provider-settings.ts";
export type { Environment } from "./models/registry/model-sources.ts";
export type { Addressed } from "./runners/envelope-types.ts";
export type { AgentDefinition } from "./runtime/definitions/catalog.ts";
export type { StandardResult } from "./runtime/definitions/output-schema.ts";

export type { AgentNamed, RunNamed } from "./view/readable-event.ts";
export type { HostAgent } from "./host-tools/host-runtime.ts";
export type { ChildEnvelope } from "./runners/envelope-types.ts";
