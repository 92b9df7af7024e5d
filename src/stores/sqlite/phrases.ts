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
const SHIFT = SHORT + 1;
/** All phrases, and the second characters of codes, are ASCII from the space on. */
const FIRST_LETTER = 0x20;
const LETTERS = 0x60;
/** As letters are counted here. */
const FIRST_SURROGATE = 0xd800 - FIRST_LETTER;
const LAST_SURROGATE = 0xdfff - FIRST_LETTER;

function codeOf(index: number): string {
  return index < SHORT ? String.fromCharCode(index + 1) : String.fromCharCode(SHIFT, FIRST_LETTER + index - SHORT);
}

const CODES: readonly string[] = PHRASES.map((_, index) => codeOf(index));

/**
 * The phrases as a tree of letters: `next[node * LETTERS + letter]` is the node after it, or 0; `ends[node]` is one more than the index of the phrase that ends there, or
 * 0. (As one regular expression they were as quick, until V8 threw its code away, as it does with what is not used for a while: compiling it took milliseconds.)
 */
const { next, ends } = letterTree();

function letterTree(): { readonly next: Uint16Array; readonly ends: Uint8Array } {
  const most = PHRASES.reduce((letters, phrase) => letters + phrase.length, 1);
  const after = new Uint16Array(most * LETTERS);
  const endings = new Uint8Array(most);
  let nodes = 1;
  for (const [index, phrase] of PHRASES.entries()) {
    let node = 0;
    for (let place = 0; place < phrase.length; place += 1) {
      const step = node * LETTERS + phrase.charCodeAt(place) - FIRST_LETTER;
      node = after[step] ||= nodes++;
    }
    endings[node] = index + 1;
  }
  return { next: after, ends: endings };
}

/** Of phrases that begin at the same place the longest is taken. Null for a text with a character that a code would be taken for, or with a surrogate,
 * which may be half a character. */
export function shortened(text: string): string | null {
  let short = "";
  let kept = 0;
  for (let place = 0; place < text.length;) {
    const first = text.charCodeAt(place) - FIRST_LETTER;
    if (first < 0 || (first >= FIRST_SURROGATE && first <= LAST_SURROGATE)) return null;
    let node = first < LETTERS ? (next[first] ?? 0) : 0;
    if (node === 0) {
      place += 1;
      continue;
    }
    let found = ends[node] ?? 0;
    let end = place + 1;
    for (let at = end; at < text.length;) {
      const letter = text.charCodeAt(at) - FIRST_LETTER;
      if (letter < 0 || letter >= LETTERS) break;
      node = next[node * LETTERS + letter] ?? 0;
      if (node === 0) break;
      at += 1;
      const ending = ends[node] ?? 0;
      if (ending === 0) continue;
      found = ending;
      end = at;
    }
    if (found === 0) place += 1;
    else {
      short += text.slice(kept, place) + (CODES[found - 1] ?? "");
      kept = place = end;
    }
  }
  return short + text.slice(kept);
}

/** A code that stands for nothing is left as it is: whoever checks the text's hash finds it. */
export function lengthened(text: string): string {
  let long = "";
  let kept = 0;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (code > SHIFT) continue;
    const begun = place;
    if (code === SHIFT) place += 1;
    const phrase = PHRASES[code < SHIFT ? code - 1 : text.charCodeAt(place) - FIRST_LETTER + SHORT];
    if (phrase === undefined) continue;
    long += text.slice(kept, begun) + phrase;
    kept = place + 1;
  }
  return long + text.slice(kept);
}
