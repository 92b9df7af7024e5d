/** Permission rules as they are judged: bounded, and in one spelling of Unicode, which rules and paths are compared in. */

import { GLOB_LENGTH } from "../../core/text/glob.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import { ErrandError } from "../../errors.ts";

export function judgedRules(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return rules.map((rule) => {
    if (rule.path === undefined) return rule;
    if (rule.path.length > GLOB_LENGTH) {
      throw new ErrandError("usage", `The path of a rule for ${rule.tool} is longer than ${GLOB_LENGTH} characters.`, {
        remedy: "Write a shorter pattern.",
      });
    }
    return { ...rule, path: rule.path.normalize("NFC") };
  });
}
