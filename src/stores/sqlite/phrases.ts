/**
 * Phrases that stand in the heads of nearly all rows and in definitions, and what is stored for them: one or two control characters, which JSON text never holds
 * as they are. What a store holds of a delegation is a third shorter for it; what it gives back is the same text.
 *
 * Invariants:
 *  1. The list is stored data: it is added to at its end, never changed. A phrase that the kernel no longer writes stays.
 *  2. Reading undoes writing for every text without control characters; one with them must not be given here (`cells.ts`).
 *  3. Text that was stored without phrases reads as itself.
 */

/** By use: the first thirty are one character long where they are stored, the others two. */
const PHRASES: readonly string[] = [
  '{"rev":"',
  '","at":',
  ',"input":{"type":"',
  'model-replied","effect":"',
  '","attempt":1,"usage":{"input":',
  ',"output":',
  '},"stop":"tools","size":',
  '},"stop":"end","size":',
  '},"texts":1,"events":[{"type":"',
  ',"said":true},"texts":1,"events":[{"type":"',
  '},{"type":"',
  '"},{"type":"',
  'model-called","agent":',
  '}],"contexts":["',
  '"],"body":"',
  ',"n":1',
  ',"size":',
  ',"call":"',
  'turn-ended","agent":',
  ',"outcome":"done"',
  'run-ended","run":',
  ',"status":"ok","report":"tool"',
  'tool-answered","agent":',
  'tool-called","agent":',
  '","name":"',
  '","safe":true}],"body":"',
  'tool-finished","effect":"',
  '","attempt":1,"size":',
  'turn-started","agent":',
  'channel-sent","agent":',
  ',"seed":"',
  '","slots":',
  'run-created","run":',
  ',"parent":',
  ',"id":"',
  '","agent":"',
  '","mode":"awaited","definition":"',
  '","mode":"background","definition":"',
  '","call":"',
  '","iterations":',
  ',"timeoutMs":',
  'run-started","run":',
  'run-reported","run":',
  '","text":',
  ',"run":',
  'message-posted","id":"',
  '","to":',
  ',"kind":"user","size":',
  ',"take":["',
  '"]},{"type":"',
  ']},{"type":"',
  ',"posts":["',
  '"]}],"body":"',
  '}],"body":"',
  '"}],"body":"',
  'announcement-queued","agent":',
  ',"key":"',
  '","runs":[',
  ',"announcement":"',
  '","placed":[',
  ',"status":"',
  '","reason":"',
  '","report":"',
  'message-sent","n":',
  ',"from":',
  ',"to":',
  ',"kind":"',
  '","size":',
  'nudge-given","agent":',
  ',"about":"',
  'run-state-changed","run":',
  ',"state":"waiting"',
  ',"state":"running"',
  'slots-offered"}',
  'timers-due"}',
  'effects-lost","effects":["',
  'model-failed","effect":"',
  ',"retryable":',
  ',"code":"',
  'effect-repeated","effect":"',
  'usage-estimated","agent":',
  'cancel-asked","id":"',
  ',"cacheRead":',
  ',"cacheWrite":',
  ',"reserved":{"tokens":',
  ',"cost":',
  'tree-opened","agent":"',
  '","kind":"foreground","definition":"',
  '","catalog":[{"name":"',
  '","hash":"',
  '","reporting":"tool","model":"',
  '","window":',
  '","window":null,"price":null,"tools":[',
  ',"price":{"input":',
  '},"tools":[',
  '{"name":"',
  '","safe":true}',
  ',"iterations":null,"timeoutSeconds":null,"typed":false,"say":false}',
  '],"settings":{"limits":{"awaitedTimeoutSeconds":',
  ',"backgroundTimeoutSeconds":',
  ',"delegatedIterations":',
  ',"turnIterations":',
  ',"maxDepth":',
  ',"summaryBytes":',
  ',"announcementBytes":',
  ',"liveChildren":',
  ',"runsPerTree":',
  ',"tokensPerTree":null,"costPerTree":null,"barrierSeconds":',
  ',"userMessagesPerRun":',
  '},"events":[{"type":"',
  ',"n":',
  '","description":"',
  '","prompt":"',
  '","tools":[',
  '","schema":{"type":"object","properties":{',
  ':{"type":"string"',
  '},"required":["',
  '},"additionalProperties":false',
  ',"inboxMessages":',
  ',"agentTurns":',
  '},"caps":{},"subagentEnabled":true,"artifactKinds":["note","path","diff","json"]}}}',
];

const SHORT = 30;
const SHIFT = "\u001f";

function codeOf(index: number): string {
  return index < SHORT ? String.fromCharCode(index + 1) : SHIFT + String.fromCharCode(0x20 + index - SHORT);
}

const codes: ReadonlyMap<string, string> = new Map(PHRASES.map((phrase, index) => [phrase, codeOf(index)]));
const phrases: ReadonlyMap<string, string> = new Map(PHRASES.map((phrase, index) => [codeOf(index), phrase]));

const literal = (phrase: string): string => phrase.replaceAll(/[{}[\]().+*?|\\^$]/g, String.raw`\$&`);
/** Of two phrases that begin at the same place the longer one is taken. */
const ANY_PHRASE = new RegExp(
  PHRASES.toSorted((a, b) => b.length - a.length)
    .map(literal)
    .join("|"),
  "g",
);
// oxlint-disable-next-line no-control-regex
const ANY_CODE = /[\u0001-\u001e]|\u001f./g;

export function shortened(text: string): string {
  return text.replace(ANY_PHRASE, (phrase) => codes.get(phrase) ?? phrase);
}

/** A code that stands for nothing is left as it is: whoever checks the text's hash finds it. */
export function lengthened(text: string): string {
  return text.replace(ANY_CODE, (code) => phrases.get(code) ?? code);
}
