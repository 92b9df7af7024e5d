/** The folders of agent and skill files, in the order of precedence: Errand's own before those of other programs. */

export interface Convention {
  readonly program: string;
  readonly folder: string;
  /** In the home folder, if it differs. */
  readonly homeFolder?: string;
  readonly ending: string;
  readonly language: "markdown" | "toml";
  /** The tool name `edit` includes writing new files. */
  readonly editMeansWrite?: true;
}

const EDIT = { editMeansWrite: true } as const;

export const AGENT_CONVENTIONS: readonly Convention[] = [
  markdown("errand", ".errand/agents"),
  markdown("claude", ".claude/agents"),
  markdown("gemini", ".gemini/agents"),
  markdown("copilot", ".github/agents", { ...EDIT, homeFolder: ".copilot/agents", ending: ".agent.md" }),
  markdown("opencode", ".opencode/agent", { ...EDIT, homeFolder: ".config/opencode/agent" }),
  markdown("opencode", ".opencode/agents", { ...EDIT, homeFolder: ".config/opencode/agents" }),
  markdown("cursor", ".cursor/agents"),
  { program: "codex", folder: ".codex/agents", ending: ".toml", language: "toml" },
];

export const SKILL_FOLDERS: readonly { readonly program: string; readonly folder: string }[] = [
  { program: "errand", folder: ".errand/skills" },
  { program: "claude", folder: ".claude/skills" },
];

function markdown(program: string, folder: string, more: Partial<Convention> = {}): Convention {
  return { program, folder, ending: ".md", language: "markdown", ...more };
}
