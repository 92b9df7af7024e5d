/** Folds a fact into the contexts: the second fold, called with every fact right after `apply`. */

import type { FactOf, FactType, Stamp } from "../event.ts";
import { definitionContexts } from "./definition-contexts.ts";
import type { ContextHandlers, Fold, TextAt } from "./fold.ts";
import { outsideContexts } from "./outside-contexts.ts";
import { messageContexts } from "./message-contexts.ts";
import { runContexts } from "./run-contexts.ts";
import { turnContexts } from "./turn-contexts.ts";

const HANDLERS: ContextHandlers = {
  ...definitionContexts,
  ...messageContexts,
  ...turnContexts,
  ...runContexts,
  ...outsideContexts,
};

export function foldContexts<Type extends FactType>(
  fold: Fold,
  fact: FactOf<Type>,
  textAt: TextAt,
  stamp: Stamp,
): void {
  HANDLERS[fact.type]?.(fold, fact, textAt, stamp);
}
