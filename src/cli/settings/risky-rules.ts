/** Rules that allow more than they seem to: programs that start others must not be allowed with any arguments. */

import type { Json } from "../../core/json.ts";
import { commandIsPrefix, firstWords } from "../../core/permissions/command-rules.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import { permissionRules } from "./permission-rules.ts";

/** As docs/concepts/permissions.md lists them. */
export const RISKY_PROGRAMS: readonly string[] = [
  ...["ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "pwsh", "sh", "tcsh", "zsh"],
  ...["bun", "deno", "java", "lua", "node", "perl", "php", "python", "ruby", "tclsh", "ts-node", "tsx"],
  ...["awk", "ed", "emacs", "ex", "gawk", "less", "man", "mawk", "more", "nano", "sed", "vi", "vim"],
  ...["chroot", "doas", "env", "flock", "ionice", "nice", "nohup", "parallel", "script", "setsid", "stdbuf", "strace"],
  ...["su", "sudo", "time", "timeout", "unshare", "watch", "xargs"],
  ...[
    "cargo",
    "cmake",
    "gdb",
    "go",
    "gradle",
    "make",
    "mvn",
    "ninja",
    "npm",
    "npx",
    "pip",
    "pnpm",
    "uv",
    "uvx",
    "yarn",
  ],
  ...["curl", "docker", "find", "gh", "git", "kubectl", "podman", "rsync", "scp", "sftp", "ssh", "tar", "wget", "zip"],
];

/** A sentence for each rule that allows such a program by its first words. */
export function riskyRuleNotices(value: Json): readonly string[] {
  const rules = permissionRules(value);
  return typeof rules === "string" ? [] : rules.flatMap((rule) => noticeOf(rule) ?? []);
}

function noticeOf({ decision, command }: PermissionRule): string | null {
  if (decision !== "allow" || command === undefined || !commandIsPrefix(command)) return null;
  const [program] = firstWords(command);
  if (program === undefined) return 'a rule allows the command ["*"], which is every program';
  if (!RISKY_PROGRAMS.includes(nameOf(program))) return null;
  return `a rule allows ${JSON.stringify(command)}: ${program} can start any other program. Name the exact arguments, without "*"`;
}

/** `/usr/bin/python3.12` is `python`. */
function nameOf(program: string): string {
  return program
    .slice(program.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/[\d.]*(?:\.exe)?$/, "");
}
