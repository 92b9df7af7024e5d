import { join } from "node:path";
import { expect, test } from "vitest";
import { projectFolder, warningsOf } from "./definition-folder.test-support.ts";
import { readDefinitions } from "./read-definitions.ts";

test("Errand's own file gives every key of a definition, without a warning", async () => {
  const folder = projectFolder({
    ".errand/agents/reviewer.md": `---
name: reviewer
description: Reviews a change.
tools: [read_file, search_text]
model: anthropic/claude-x
reporting: tag
maxIterations: 12
timeout-seconds: 90
say: false
---

You review changes.
`,
  });
  const read = await readDefinitions({ folder, trusted: () => true });
  expect(read.definitions).toEqual([
    {
      name: "reviewer",
      description: "Reviews a change.",
      prompt: "You review changes.",
      tools: ["read_file", "search_text"],
      model: "anthropic/claude-x",
      reporting: "tag",
      maxIterations: 12,
      timeoutSeconds: 90,
      say: false,
      needsTrust: false,
      trustFor: ["a model"],
    },
  ]);
  expect(warningsOf(read, folder)).toEqual([]);
  expect(read.sources).toMatchObject([
    { kind: "agent", program: "errand", place: "project", state: "used", found: { name: "reviewer" } },
  ]);
});

test("a Claude Code agent keeps its restrictions, and unsupported keys give warnings", async () => {
  const folder = projectFolder({
    ".claude/agents/fixer.md": `---
name: fixer
description: >
  Use PROACTIVELY
  when tests fail.
tools: Read, Grep, Glob, LS, Edit, Write, Bash(git diff:*, git log:*), WebFetch, mcp__github__list, Task
disallowedTools: Write
model: sonnet
maxTurns: 30
skills: testing, tidy
background: true
isolation: worktree
effort: high
color: blue
mcpServers:
  - github
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: ./check.sh
---
You fix tests.
`,
    ".claude/skills/testing/SKILL.md": "---\ndescription: Tests.\n---\nTest it.",
  });
  const read = await readDefinitions({ folder, trusted: () => true });
  expect(read.definitions).toEqual([
    {
      name: "fixer",
      description: "Use PROACTIVELY when tests fail.",
      prompt: "You fix tests.",
      tools: ["read_file", "search_text", "list_files", "edit_file"],
      maxIterations: 30,
      skills: ["testing", "tidy"],
      needsTrust: true,
      trustFor: ["MCP servers", "commands", "hooks"],
    },
  ]);
  expect(read.sources[0]).toMatchObject({ state: "used", hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(warningsOf(read, folder)).toEqual([
    '.claude/agents/fixer.md:6 the tool "WebFetch" is not known here, and was left out',
    '.claude/agents/fixer.md:6 the tool "mcp__github__list" is not known here, and was left out',
    '.claude/agents/fixer.md:6 the tool "Task" is not known here, and was left out',
    '.claude/agents/fixer.md:6 "Bash(git diff:*, git log:*)" allows only a part of a tool, which cannot be kept: it was left out',
    '.claude/agents/fixer.md:8 the model "sonnet" was left out, and the default is used: models are named provider/model here',
    ".claude/agents/fixer.md:11 `background` is not acted on",
    ".claude/agents/fixer.md:12 `isolation` is not acted on",
    ".claude/agents/fixer.md:13 `effort` is not acted on",
    ".claude/agents/fixer.md:15 `mcpServers` is not acted on",
    ".claude/agents/fixer.md:17 `hooks` is not acted on",
    '.claude/agents/fixer.md:- the skill "tidy" is not there',
  ]);
});

test("a Gemini agent's turns and minutes become iterations and seconds", async () => {
  const folder = projectFolder({
    ".gemini/agents/scout.md": `---
name: scout
description: Looks around.
kind: local
tools: [read_file, grep_search, list_directory, run_shell_command]
model: gemini-2.5-pro
temperature: 0.2
max_turns: 15
timeout_mins: 5
---
You look around.`,
    ".gemini/agents/remote.md": "---\nname: remote\nkind: remote\nagent_card_url: https://example.com/card\n---\nx",
  });
  const read = await readDefinitions({ folder });
  expect(read.definitions).toMatchObject([
    {
      name: "scout",
      tools: ["read_file", "search_text", "list_files", "run_command"],
      maxIterations: 15,
      timeoutSeconds: 300,
      needsTrust: false,
    },
  ]);
  expect(read.definitions[0]).not.toHaveProperty("model");
  expect(warningsOf(read, folder).join("\n")).toContain(
    "remote.md:3 it was left out: it is an agent of another server",
  );
});

test("a Copilot agent is named after its file, and other characters in a name are replaced", async () => {
  const folder = projectFolder({
    ".github/agents/test-writer.agent.md":
      "---\ndescription: Writes tests.\ntools: ['read', 'search/codebase', 'edit', 'runCommands']\nmodel: GPT-5 (copilot)\n---\nWrite tests.",
    ".github/agents/named.agent.md":
      "---\nname: API Désigner!\ndescription: d\nmcp-servers:\n  docs:\n    type: local\n    command: npx\n---\nDesign.",
    ".github/agents/README.md": "# not an agent",
  });
  const read = await readDefinitions({ folder, trusted: () => true });
  expect(read.definitions).toMatchObject([
    { name: "API-De-signer", needsTrust: true, trustFor: ["MCP servers", "commands"] },
    {
      name: "test-writer",
      tools: ["read_file", "search_text", "list_files", "edit_file", "write_file", "run_command"],
    },
  ]);
  expect(warningsOf(read, folder).join("\n")).toContain('its name "API Désigner!" became "API-De-signer"');
});

test("an opencode agent's switches and denials take tools away", async () => {
  const folder = projectFolder({
    ".opencode/agent/plan.md": `---
description: Plans.
mode: subagent
steps: 7
model: anthropic/claude-y
tools:
  write: false
  read: true
permission:
  edit: deny
  bash:
    "git status": allow
    "*": deny
---
You plan.`,
    ".opencode/agents/off.md": "---\ndescription: x\ndisable: true\n---\nx",
    ".opencode/agent/locked.md": "---\ndescription: x\npermission: deny\n---\nx",
  });
  const read = await readDefinitions({ folder, trusted: () => true });
  expect(read.definitions).toMatchObject([
    { name: "locked", tools: [] },
    {
      name: "plan",
      maxIterations: 7,
      model: "anthropic/claude-y",
      tools: ["list_files", "search_text", "read_file"],
      needsTrust: false,
    },
  ]);
  expect(warningsOf(read, folder)).toEqual([
    ".opencode/agents/off.md:3 it was left out: it is disabled by its own frontmatter",
  ]);
});

test("read-only agents of Cursor and Codex get the reading tools", async () => {
  const folder = projectFolder({
    ".cursor/agents/verifier.md":
      "---\nname: verifier\ndescription: Checks.\nmodel: inherit\nreadonly: true\nis_background: false\n---\nCheck.",
    ".codex/agents/explorer.toml": `# Codex
name = "explorer"
description = 'Explores "things".'
model = "gpt-5"
sandbox_mode = "read-only"
nickname_candidates = [ "Ada", "Bob", ]
developer_instructions = """
Explore the code.
  Say where \\"it\\" is.
"""

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-server"]
`,
  });
  const read = await readDefinitions({ folder, trusted: () => true });
  const reading = ["list_files", "search_text", "read_file"];
  expect(read.definitions).toEqual([
    { name: "verifier", description: "Checks.", prompt: "Check.", tools: reading, needsTrust: false, trustFor: [] },
    {
      name: "explorer",
      description: 'Explores "things".',
      prompt: 'Explore the code.\n  Say where "it" is.',
      tools: reading,
      needsTrust: true,
      trustFor: ["MCP servers", "commands"],
    },
  ]);
  expect(warningsOf(read, folder)).toEqual([
    '.codex/agents/explorer.toml:4 the model "gpt-5" was left out, and the default is used: models are named provider/model here',
    ".codex/agents/explorer.toml:12 `mcp_servers` is not acted on",
  ]);
});

test("skills are found in both folders, with Errand's names of their tools", async () => {
  const folder = projectFolder({
    ".errand/skills/tidy/SKILL.md": "---\ndescription: Tidies.\ncontext: fork\n---\nTidy up.",
    ".claude/skills/pdf/SKILL.md":
      "---\nname: pdf\ndescription: Reads PDFs.\nallowed-tools: Bash(pdftotext:*) Read Write\n---\nRead it.",
    ".claude/skills/hooked/SKILL.md": "---\nname: hooked\ndescription: d\nhooks:\n  Stop: [x]\n---\nText.",
    ".claude/skills/empty/notes.txt": "no skill",
    ".claude/skills/researcher/SKILL.md": "---\ndescription: clashes\n---\nx",
  });
  const read = await readDefinitions({ folder, trusted: () => true, toolNames: ["read_file"] });
  expect(read.skills).toEqual([
    { name: "tidy", description: "Tidies.", prompt: "Tidy up.", isolated: true, needsTrust: false, trustFor: [] },
    { name: "hooked", description: "d", prompt: "Text.", isolated: false, needsTrust: true, trustFor: ["hooks"] },
    {
      name: "pdf",
      description: "Reads PDFs.",
      prompt: "Read it.",
      isolated: false,
      tools: ["read_file"],
      needsTrust: false,
      trustFor: [],
    },
  ]);
  expect(warningsOf(read, folder)).toEqual([
    '.claude/skills/pdf/SKILL.md:4 the tool "Bash(pdftotext:*)" was left out',
    '.claude/skills/pdf/SKILL.md:4 the tool "write_file" was left out',
    '.claude/skills/researcher/SKILL.md:- it was left out: "researcher" is already given by a built-in agent',
  ]);
});

test("AGENTS.md is the project's context, up to its limit", async () => {
  const folder = projectFolder({ "AGENTS.md": "\uFEFF# Rules\r\nBe kind.\r\n" });
  const path = join(folder, "AGENTS.md");
  expect((await readDefinitions({ folder })).context).toEqual({ path, text: "# Rules\nBe kind.", cut: false });
  const long = projectFolder({ "AGENTS.md": `a${"é".repeat(50_000)}` });
  const read = await readDefinitions({ folder: long });
  expect(read.context?.cut).toBe(true);
  expect(read.context?.text).toBe(`a${"é".repeat(32_767)}`);
  expect(warningsOf(read, long)).toEqual(["AGENTS.md:- only its first 65536 bytes are used"]);
});

test("an empty or missing folder gives nothing and no warning", async () => {
  const nothing = { definitions: [], skills: [], context: null, sources: [] };
  expect(await readDefinitions({ folder: projectFolder() })).toEqual(nothing);
  expect(await readDefinitions({ folder: "/nowhere/at/all" })).toEqual(nothing);
});
