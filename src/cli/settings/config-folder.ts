/** Where the user's own choices are kept: never in a project's folder, which others may have written. */

import { isAbsolute, join } from "node:path";
import type { Host } from "../host.ts";

export function configFolder({ env, home }: Pick<Host, "env" | "home">): string {
  const chosen = env["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(chosen) ? chosen : join(home, ".config"), "errand");
}
