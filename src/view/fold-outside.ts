/** Folds what outside children do into the readable model. */

import { modelCost } from "../core/values/definition.ts";
import { stepKey } from "../core/values/ids.ts";
import type { ReadableEvent } from "./readable-event.ts";
import { type FactOf, textAt, type TreeEvent } from "./tree-event.ts";
import { type AgentModel, agentNamed, type EffectModel, runNamed, type TreeModel } from "./tree-model.ts";

const NOTHING = { input: 0, output: 0, cost: 0 };

export function sessionStarted(model: TreeModel, fact: FactOf<"runner-started">, seq: number): ReadableEvent[] {
  model.effects.set(stepKey(seq, fact.n), { agent: fact.agent, call: null, failures: 0, session: NOTHING });
  return [];
}

type FromSession = FactOf<"runner-progressed" | "runner-asked" | "runner-reported" | "runner-ended">;

/** Anything that a session says: what it has used, and what it does. */
export function sessionSaid(model: TreeModel, fact: FromSession, { texts, at }: TreeEvent): ReadableEvent[] {
  const effect = model.effects.get(fact.effect);
  const agent = effect === undefined ? undefined : model.agents.get(effect.agent);
  if (effect === undefined || agent === undefined) return [];
  const events = fact.used === undefined ? [] : booked(agent, effect, fact.used, at);
  if (fact.type === "runner-ended") model.effects.delete(fact.effect);
  const text = fact.type === "runner-progressed" ? (textAt(texts, 0) ?? "") : "";
  if (text === "") return events;
  agent.doing = text;
  return agent.run === null ? events : [...events, { type: "run-progress", at, ...runNamed(agent, agent.run), text }];
}

/** Books what the session has used since it was last booked. */
function booked(
  agent: AgentModel,
  effect: EffectModel,
  used: NonNullable<FromSession["used"]>,
  at: number,
): ReadableEvent[] {
  const before = effect.session ?? NOTHING;
  const input = Math.max(before.input, used.input);
  const output = Math.max(before.output, used.output);
  const cost = Math.max(before.cost, used.cost ?? modelCost(agent.price, used));
  effect.session = { input, output, cost };
  const more = { input: input - before.input, output: output - before.output, cost: cost - before.cost };
  if (more.input + more.output + more.cost === 0) return [];
  agent.tokens += more.input + more.output;
  agent.cost += more.cost;
  return [{ type: "usage", at, ...agentNamed(agent), ...more, estimated: false }];
}
