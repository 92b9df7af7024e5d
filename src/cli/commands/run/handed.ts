/** What a background process is handed on its standard input. */

import { ErrandError } from "../../../errors.ts";
import type { StoreScope } from "../../store/scope.ts";

export interface Handed {
  readonly task: string;
  readonly scope: StoreScope;
}

export function handedText(handed: Handed): string {
  return JSON.stringify(handed);
}

export function readHanded(text: string): Handed {
  try {
    const { task, scope } = JSON.parse(text) as Partial<Handed>;
    if (typeof task === "string" && typeof scope === "object") return { task, scope };
  } catch {
    // Somebody has typed what only Errand gives to itself.
  }
  throw new ErrandError("usage", "--detached is for Errand itself", {
    remedy: "For a task in the background: --detach.",
  });
}
