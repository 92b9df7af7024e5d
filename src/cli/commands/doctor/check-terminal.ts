/** What the terminal can show. */

import { firstOf } from "../../../models/registry/model-sources.ts";
import type { Host } from "../../host.ts";
import { type Finding, ok, warning } from "./finding.ts";

const NARROW = 40;

export function checkTerminal({ env, screen, colours }: Host): Finding {
  if (screen === null) {
    const why = env["TERM"] === "dumb" ? "TERM is dumb" : "standard output is no terminal";
    return ok("terminal", `plain lines, because ${why}`);
  }
  const { columns, rows } = screen.size();
  const text = `${columns} columns, ${rows} rows, ${colours.out === null ? "no colours" : "colours"}, live tree`;
  if (columns < NARROW) return warning("terminal", text, `Make the window at least ${NARROW} columns wide.`);
  const locale = firstOf(env, ["LC_ALL", "LC_CTYPE", "LANG"]);
  if (locale !== null && !/utf-?8/i.test(locale.value)) {
    const remedy = "Use a UTF-8 locale, such as LANG=C.UTF-8, or the lines of the tree may look broken.";
    return warning("terminal", `${text}, but ${locale.name} is ${locale.value}`, remedy);
  }
  return ok("terminal", text);
}
