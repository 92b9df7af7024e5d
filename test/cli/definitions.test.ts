/**
 * The files of agents and skills, and AGENTS.md, from the folder to the requests of models: the real program, real
 * files.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { agentFile, definedProject, type DefinedProject, HOOKS } from "./support/defined-project.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 120_000 });

interface Seen {
  readonly system: string;
  readonly tools: readonly string[];
}

/** The request of the root, and that of its child; null if there was no child. */
async function shown({ json }: DefinedProject, ...args: string[]): Promise<{ root: Seen; child: Seen | null }> {
  const lines = await json("run", ...args, "a task");
  const answer = String(lines.find(({ type }) => type === "answer")?.["text"]);
  const { child, ...root } = JSON.parse(answer) as Seen & { readonly child: string | null };
  const { summary = "null" } = child === null ? {} : (JSON.parse(child) as { readonly summary?: string });
  return { root, child: JSON.parse(summary || "null") as Seen | null };
}

describe("run", () => {
  test("delegates to an agent by the name in its file, with its prompt, tools and skills", async () => {
    const project = definedProject(
      {
        ".claude/agents/reviewer.md": agentFile("reviewer", "You review.", "tools: Read, Grep\nskills: [style]\n"),
        ".claude/skills/style/SKILL.md": "---\ndescription: How we write.\n---\nShort sentences.",
      },
      { ".claude/skills/other/SKILL.md": "---\ndescription: Something else.\n---\nx" },
    );
    const { root, child } = await shown(project, "--model", "showing/reviewer");
    expect(root.system).toContain("- reviewer: About reviewer.");
    expect(root.system).toContain("- style: How we write.");
    expect(root.system).toContain("- other: Something else.");
    expect(child?.system).toMatch(
      /^You review\.\n\nSkills for your work, to be used with use_skill:\n- style: How we write\.\n\n/,
    );
    expect(child?.system).not.toContain("Something else");
    expect(child?.tools).toEqual(expect.arrayContaining(["read_file", "search_text", "use_skill"]));
    expect(child?.tools).not.toContain("list_files");
  });

  test("puts AGENTS.md, whole or cut, into the root's context and not into its children's", async () => {
    const project = definedProject({ "AGENTS.md": "# Rules\nRun make first.\n" });
    const { root, child } = await shown(project, "--model", "showing/worker");
    expect(root.system).toMatch(/\n\nAbout the project you work in:\n\(AGENTS\.md\)\n# Rules\nRun make first\.$/);
    expect(child?.system).not.toContain("make");
    project.write("AGENTS.md", `# Rules\n${"x".repeat(70_000)}`);
    const long = await shown(project, "--model", "showing/none");
    expect(long.root.system).toMatch(
      /\(AGENTS\.md, its beginning\)\n# Rules\nx+\n\(AGENTS\.md goes on: read the rest of the file\.\)$/,
    );
    expect(Buffer.byteLength(long.root.system)).toBeLessThan(70_000);
    expect((await project.errand("run", "--model", "showing/none", "x")).err).toContain("AGENTS.md is long");
  });

  test("starts the definition that --agent names, from a file or built in", async () => {
    const project = definedProject({ ".errand/agents/reviewer.md": agentFile("reviewer", "You review.") });
    const { root } = await shown(project, "--agent", "reviewer", "--model", "showing/none");
    expect(root.system).toMatch(/^You review\.\n/);
    const lines = await project.json("run", "--agent", "researcher", "the sample");
    expect(lines[0]).toMatchObject({ type: "agent-opened", definition: "researcher" });
    expect(lines.at(-1)).toMatchObject({ type: "done", outcome: "done" });
  });

  test("refuses an unknown agent with the nearest name before it creates a store", async () => {
    const project = definedProject({
      ".errand/agents/reviewer.md": agentFile("reviewer", "x"),
      ".errand/skills/tidy/SKILL.md": "---\ndescription: d\n---\nx",
    });
    const { code, err } = await project.errand("run", "--agent", "reviwer", "x");
    expect(saidOf(err)).toMatchObject({ code: "definition-unknown", lines: 2 });
    expect(err).toContain("did you mean reviewer?");
    expect(code).toBe(1);
    // A skill is used, not started.
    expect(saidOf((await project.errand("run", "--agent", "tidy", "x")).err).code).toBe("definition-unknown");
    expect((await project.errand("ps")).err).toContain("There is no store");
  });

  test("takes the model of the flag, the definition, the environment, the folder, the user, or the offline one", async () => {
    const model = (name: string): string => JSON.stringify({ model: `showing/${name}` });
    const project = definedProject({ ".errand/agents/own.md": agentFile("own", "x", "model: showing/definition\n") });
    const used = async (env: Record<string, string>, ...args: string[]): Promise<unknown> => {
      const { out } = await project.errandWith(env, "run", "--json", ...args, "x");
      return [...out.matchAll(/"model":"([^"]+)"/g)].map(([, name]) => name).at(-1);
    };
    expect(await used({})).toBe("offline/rehearsal");
    mkdirSync(join(project.home, ".config/errand"), { recursive: true });
    writeFileSync(join(project.home, ".config/errand/config.json"), model("user"));
    expect(await used({})).toBe("showing/user");
    project.write(".errand/config.json", model("folder"));
    expect(await used({})).toBe("showing/user");
    expect(await used({}, "--agent", "own")).toBe("showing/user");
    await project.errand("trust");
    expect(await used({})).toBe("showing/folder");
    const env = { ERRAND_MODEL: "showing/environment" };
    expect(await used(env)).toBe("showing/environment");
    expect(await used(env, "--agent", "own")).toBe("showing/definition");
    expect(await used(env, "--agent", "own", "--model", "showing/flag")).toBe("showing/flag");
  });

  test("leaves out a definition whose model is unavailable and says so; model names of other programs mean the default", async () => {
    const project = definedProject({
      ".claude/agents/short.md": agentFile("short", "Short.", "model: sonnet\n"),
      ".claude/agents/same.md": agentFile("same", "Same.", "model: inherit\n"),
      ".opencode/agent/far.md": agentFile("far", "Far.", "model: nowhere/at-all\n"),
    });
    const before = await project.errand("run", "the sample");
    expect(before.err).toContain("far: the model named there is not used before you trust this folder: errand trust\n");
    await project.errand("trust");
    const { out, err, code } = await project.errand("run", "the sample");
    expect(err).toContain("not used, because their model cannot be had: far; errand agents says why\n");
    expect(out).toContain("README.md");
    expect(code).toBe(0);
    const asked = await project.errand("run", "--agent", "far", "x");
    expect(saidOf(asked.err.split("\n").slice(-3).join("\n"))).toMatchObject({ code: "model-unknown" });
    // The flag is the model of every agent.
    expect((await shown(project, "--model", "showing/far")).child?.system).toMatch(/^Far\./);
    expect((await shown(project, "--model", "showing/none", "--agent", "same")).root.system).toMatch(/^Same\./);
  });
});

describe("one name", () => {
  const HOME = { ".errand/agents/worker.md": agentFile("worker", "of the home") };

  test("the folder's file wins over the home's, and that over the built-in one; errand agents names shadowed ones", async () => {
    const project = definedProject({ ".claude/agents/worker.md": agentFile("worker", "of the folder") }, HOME);
    expect((await shown(project, "--model", "showing/worker")).child?.system).toMatch(/^of the home\n/);
    await project.errand("trust");
    expect((await shown(project, "--model", "showing/worker")).child?.system).toMatch(/^of the folder\n/);
    const workers = (await project.json("agents")).filter(({ name }) => name === "worker");
    const winner = join(project.folder, ".claude/agents/worker.md");
    expect(workers).toEqual([
      expect.objectContaining({ place: "project", state: "used", source: winner, shadowedBy: null }),
      expect.objectContaining({ place: "home", state: "shadowed", shadowedBy: winner }),
      expect.objectContaining({ place: "built-in", state: "shadowed", shadowedBy: winner, source: "built-in" }),
    ]);
    const { out } = await project.errand("agents", "worker");
    expect(out).toMatch(/^worker {2}\.claude\/agents\/worker\.md\n[^]*\nof the folder\n/);
    expect(out).toContain("worker  ~/.errand/agents/worker.md  (not used)");
    expect(out).toContain("worker  built-in  (not used)");
    const bare = definedProject({}, HOME);
    expect((await shown(bare, "--model", "showing/worker")).child?.system).toMatch(/^of the home\n/);
  });
});

describe("trust", () => {
  const FIXER = agentFile("fixer", "You fix.", HOOKS);

  test("a file with hooks is named in one line and not used until it is trusted, and again after a change", async () => {
    const project = definedProject({ ".claude/agents/fixer.md": FIXER });
    const untrusted = await project.errand("run", "the sample");
    expect(untrusted.err.split("\n")[0]).toBe(
      "not used before you trust this folder: fixer; errand agents says why, errand trust agrees",
    );
    expect(untrusted.code).toBe(0);
    const asked = await project.errand("run", "--agent", "fixer", "x");
    expect(saidOf(asked.err)).toMatchObject({ code: "not-trusted", lines: 2 });
    expect(asked.code).toBe(1);
    expect((await shown(project, "--model", "showing/fixer")).child).toBeNull();
    await project.errand("trust");
    expect((await shown(project, "--model", "showing/fixer")).child?.system).toMatch(/^You fix\./);
    project.write(".claude/agents/fixer.md", FIXER.replace("./stop.sh", "./other.sh"));
    expect((await shown(project, "--model", "showing/fixer")).child).toBeNull();
    expect(await project.json("agents", "fixer")).toEqual([
      expect.objectContaining({ state: "untrusted", needsTrust: true, trustFor: ["hooks"], prompt: "You fix." }),
    ]);
  });

  test("an untrusted file does not hide the home's file of its name; files of the home need no trust", async () => {
    const home = { ".errand/agents/fixer.md": agentFile("fixer", "My own.", HOOKS) };
    const project = definedProject({ ".claude/agents/fixer.md": FIXER }, home);
    expect((await shown(project, "--model", "showing/fixer")).child?.system).toMatch(/^My own\./);
  });
});

describe("errand agents", () => {
  test("lists agents, skills, context files and unused files, with file, model, tools and warnings", async () => {
    const project = definedProject({
      ".errand/agents/reviewer.md": agentFile(
        "reviewer",
        "x",
        "tools: [read_file, Bash, WebFetch]\nmodel: showing/none\n",
      ),
      ".claude/agents/broken.md": "---\nname: [\n---\nx",
      ".codex/agents/broken.toml": "name = \n",
      ".errand/skills/tidy/SKILL.md": "---\ndescription: Tidies.\ncontext: fork\n---\nx",
      "AGENTS.md": "# Rules",
    });
    await project.errand("trust");
    const { out, code } = await project.errand("agents");
    expect(code).toBe(0);
    const [agents = "", skills = "", context = "", unused = ""] = out.split("\n\n");
    expect(agents).toMatch(/^Agents:\norchestrator {2}built-in\n[^]*\nresearcher {2}built-in\n[^]*\nreviewer /);
    expect(agents).toContain("    model default; tools list_files, search_text, read_file\n");
    expect(agents).toContain(
      'reviewer  .errand/agents/reviewer.md\n    About reviewer.\n    model showing/none; tools read_file, run_command\n    line 4: the tool "WebFetch" is not known here, and was left out\n',
    );
    expect(skills).toBe("Skills:\ntidy  .errand/skills/tidy/SKILL.md\n    Tidies.\n    runs as a child");
    expect(context).toMatch(/:\nAGENTS\.md$/);
    expect(unused).toMatch(/^Not used:\n\.claude\/agents\/broken\.md {2}\(not used\)\n {4}line \d: .*no YAML/);
    expect(unused).toMatch(/\.codex\/agents\/broken\.toml {2}\(not used\)\n {4}line 1: /);
  });

  test("shows one agent in full, and suggests the nearest name for an unknown one", async () => {
    const keys = "maxTurns: 5\ntimeout_mins: 2\nreporting: tag\n";
    const project = definedProject({ ".gemini/agents/scout.md": agentFile("scout", "Look.\n\nLook again.", keys) });
    const { out } = await project.errand("agents", "scout");
    expect(out).toBe(
      "scout  .gemini/agents/scout.md\n    About scout.\n    model default; all tools\n    5 iterations, 120 seconds, reports by tag\n\nLook.\n\nLook again.\n",
    );
    expect(await project.json("agents", "scout")).toEqual([
      expect.objectContaining({
        type: "agent",
        program: "gemini",
        maxIterations: 5,
        timeoutSeconds: 120,
        reporting: "tag",
      }),
    ]);
    const { err, code } = await project.errand("agents", "scot");
    expect(saidOf(err)).toMatchObject({ code: "definition-unknown", lines: 2 });
    expect(err).toContain("did you mean scout?");
    expect(code).toBe(1);
  });

  test("hostile files affect neither the terminal, the context nor another folder, and the other files work", async () => {
    const project = definedProject({
      ".claude/agents/good.md": agentFile("good", "Good."),
      ".claude/agents/loud.md":
        '---\nname: "a\\u001b[2Jb"\ndescription: "x\\u001b]0;owned\\u0007y\\u202ez"\n---\nLoud.\u001b[31m',
      ".claude/agents/bomb.md": `---\nname: bomb\nx: ${"[".repeat(20_000)}\n---\nx`,
      ".codex/agents/bad.toml": 'name = "bad\n',
      ".claude/agents/huge.md": agentFile("huge", "x"),
    });
    const outside = join(dirname(project.folder), "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret.md"), agentFile("secret", "Secret."));
    symlinkSync(join(outside, "secret.md"), join(project.folder, ".claude/agents/secret.md"));
    symlinkSync(join(outside, "secret.md"), join(project.folder, "AGENTS.md"));
    execFileSync("mkfifo", [join(project.folder, ".claude/agents/pipe.md")]);
    truncateSync(join(project.folder, ".claude/agents/huge.md"), 10 * 1024 ** 3);
    writeFileSync(join(project.folder, ".claude/agents/\u001b[2Jname.md"), "no frontmatter");
    writeFileSync(join(project.folder, ".claude/agents/\u001b[2Jother.md"), agentFile("other", "Other."));
    const listed = await project.errand("agents");
    // oxlint-disable-next-line no-control-regex
    expect(listed.out + listed.err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(listed.out).toContain("good  .claude/agents/good.md");
    expect(listed.out).toMatch(
      /secret\.md {2}\(not used\)\n {4}it was left out: it is a symlink that leads out of its folder/,
    );
    expect(listed.out).not.toContain("About secret.");
    // oxlint-disable-next-line no-control-regex
    expect((await project.errand("agents", "a-2Jb")).out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    const { root, child } = await shown(project, "--model", "showing/good");
    expect(child?.system).toMatch(/^Good\./);
    expect(root.system).not.toContain("Secret");
    expect(root.system).not.toContain("About the project");
  });
});

describe("trees that continue", () => {
  test("a fork has the current definitions and keeps its recorded models", async () => {
    const project = definedProject();
    const [opened] = await project.json("run", "--model", "showing/none", "x");
    const tree = String(opened?.["tree"]);
    project.write(".errand/agents/reviewer.md", agentFile("reviewer", "You review.", "model: nowhere/at-all\n"));
    await project.errand("trust");
    const fork = ["fork", tree, "--at", "1", "--agent", "reviewer"];
    const gone = await project.errand(...fork, "go on");
    expect(saidOf(gone.err)).toMatchObject({ code: "model-unknown" });
    project.write(".errand/agents/reviewer.md", agentFile("reviewer", "You review."));
    const { out, code } = await project.errand(...fork, "go on");
    expect((JSON.parse(out) as Seen).system).toMatch(/^You review\./);
    expect(code).toBe(0);
    const unknown = await project.errand("fork", tree, "--at", "1", "--agent", "reviwer");
    expect(saidOf(unknown.err).code).toBe("definition-unknown");
    const forked = (await project.json("ps", "--all")).find(({ id }) => id !== tree);
    expect(forked).toBeDefined();
    // A definition keeps its recorded model although its file names another one now.
    project.write(".errand/agents/orchestrator.md", agentFile("orchestrator", "New words.", "model: nowhere/at-all\n"));
    await project.errand("trust");
    const same = await project.errand("fork", tree, "--at", "1", "go on");
    expect((JSON.parse(same.out) as Seen).system).toMatch(/^New words\./);
  });
});
