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

export const AGENT_CONVENTIONS: readonly Convention[] = [
  { program: "errand", folder: ".errand/agents", ending: ".md", language: "markdown" },
  { program: "claude", folder: ".claude/agents", ending: ".md", language: "markdown" },
  { program: "gemini", folder: ".gemini/agents", ending: ".md", language: "markdown" },
  {
    program: "copilot",
    folder: ".github/agents",
    homeFolder: ".copilot/agents",
    ending: ".agent.md",
    language: "markdown",
    editMeansWrite: true,
  },
  {
    program: "opencode",
    folder: ".opencode/agent",
    homeFolder: ".config/opencode/agent",
    ending: ".md",
    language: "markdown",
    editMeansWrite: true,
  },
  {
    program: "opencode",
    folder: ".opencode/agents",
    homeFolder: ".config/opencode/agents",
    ending: ".md",
    language: "markdown",
    editMeansWrite: true,
  },
  { program: "cursor", folder: ".cursor/agents", ending: ".md", language: "markdown" },
  { program: "codex", folder: ".codex/agents", ending: ".toml", language: "toml" },
];

export const SKILL_FOLDERS: readonly { readonly program: string; readonly folder: string }[] = [
  { program: "errand", folder: ".errand/skills" },
  { program: "claude", folder: ".claude/skills" },
];
