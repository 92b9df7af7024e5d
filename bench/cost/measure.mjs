/** Makes one delegation in its own process: `node measure.mjs '{"contender": …}'` prints one line of JSON. */
import { answerMany, answerOne, askMany, askOne, CHILD_PROMPT, lookups, PARENT_PROMPT } from "../script.mjs";
import { promptTokens, standingTokens, textOf, tokensOf } from "./count.mjs";
import { openModelServer } from "./model-server.mjs";

const { contender, background, reporting, runs = 1 } = JSON.parse(process.argv[2]);
const { delegationOf, delegate } = await import(`./contenders/${contender}.mjs`);
const server = await openModelServer({ delegation: delegationOf(background), reporting });
const asked = runs === 1 ? askOne(1) : askMany(runs);
const answer = await delegate({ url: server.url, background, reporting, question: asked });
if (runs === 1 && answer !== answerOne(1)) throw new Error(`the answer was: ${answer}`);
if (runs > 1 && !background && answer !== answerMany(runs)) throw new Error(`the answer was: ${answer}`);
if (lookups.count !== runs) throw new Error(`${lookups.count} look-ups instead of ${runs}`);

const bodies = server.requests.map(({ body }) => body);
const [parent, child] = ["parent", "child"].map((model) => bodies.find((body) => body.model === model));
const message = textOf(
  bodies.findLast((body) => body.model === "parent").messages.findLast(({ role }) => role === "user"),
);
const findings = message.match(/value of item \d+/g) ?? [];
const measured = {
  calls: bodies.length,
  tokens: bodies.reduce((sum, body) => sum + promptTokens(body), 0),
  bytes: server.requests.reduce((sum, { bytes }) => sum + bytes, 0),
  parent: standingTokens(parent, PARENT_PROMPT),
  child: standingTokens(child, CHILD_PROMPT),
  /** The last message to the parent, without the findings. */
  announcement: tokensOf(message) - findings.reduce((sum, text) => sum + tokensOf(text), 0),
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
process.exit(0);
