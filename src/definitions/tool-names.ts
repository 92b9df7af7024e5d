/** The names of tools in definitions of other programs, and Errand's tools for them. */

export interface MappedTools {
  /** Errand's names; null means all tools. */
  readonly names: readonly string[] | null;
  readonly unknown: readonly string[];
  /** Names that allow only a part of a tool, such as `Bash(git:*)`. */
  readonly restricted: readonly string[];
}

export const READING_TOOLS: readonly string[] = ["list_files", "search_text", "read_file"];
export const ERRAND_TOOLS: readonly string[] = [...READING_TOOLS, "write_file", "edit_file", "run_command"];

/** In lower case, without separators. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  read_file: ["read", "readfile", "readmanyfiles", "viewfile", "view", "notebookread"],
  search_text: ["grep", "grepsearch", "searchtext", "searchfilecontent", "textsearch", "codebase", "search"],
  list_files: ["codebase", "search", "glob", "ls", "list", "listfiles", "listdirectory", "listdir", "filesearch"],
  edit_file: ["edit", "multiedit", "editfile", "editfiles", "replace", "applypatch", "patch"],
  write_file: ["write", "writefile", "createfile", "editfiles", "applypatch"],
  run_command: [
    "bash",
    "shell",
    "execute",
    "runcommand",
    "runcommands",
    "runinterminal",
    "runshellcommand",
    "terminal",
  ],
};

/** `editMeansWrite`: the name `edit` includes writing new files. */
export function mapTools(given: readonly string[], editMeansWrite = false): MappedTools {
  if (given.includes("*")) return { names: null, unknown: [], restricted: [] };
  const names = new Set<string>();
  const unknown: string[] = [];
  const restricted: string[] = [];
  for (const item of given) {
    const bracket = item.indexOf("(");
    const key = plainName(bracket < 0 ? item : item.slice(0, bracket));
    const found = Object.keys(NAMES).filter((tool) => NAMES[tool]?.includes(key) === true);
    if (editMeansWrite && key === "edit") found.push("write_file");
    if (found.length === 0) unknown.push(item);
    else if (bracket >= 0 && !item.endsWith("(*)")) restricted.push(item);
    else for (const name of found) names.add(name);
  }
  return { names: [...names], unknown, restricted };
}

/** Of `functions.read_file` and `search/codebase`, the last part names the tool. */
function plainName(name: string): string {
  const last = /[^./]*$/.exec(name.trim())?.[0] ?? "";
  return last.toLowerCase().replaceAll(/[-_ ]/g, "");
}
