/** The tools that definitions of other programs name, in Errand's words. */

export interface MappedTools {
  /** Errand's names; null when all tools are meant. */
  readonly names: readonly string[] | null;
  /** Names without a tool of Errand's. */
  readonly unknown: readonly string[];
  /** Names that allow only a part of what a tool can do, such as `Bash(git:*)`. */
  readonly restricted: readonly string[];
}

export const READING_TOOLS: readonly string[] = ["list_files", "search_text", "read_file"];
export const ERRAND_TOOLS: readonly string[] = [...READING_TOOLS, "write_file", "edit_file", "run_command"];

/** By name: lower case, without separators. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  read: ["read_file"],
  readfile: ["read_file"],
  readmanyfiles: ["read_file"],
  viewfile: ["read_file"],
  view: ["read_file"],
  notebookread: ["read_file"],
  grep: ["search_text"],
  grepsearch: ["search_text"],
  searchtext: ["search_text"],
  searchfilecontent: ["search_text"],
  textsearch: ["search_text"],
  codebase: ["search_text", "list_files"],
  search: ["search_text", "list_files"],
  glob: ["list_files"],
  ls: ["list_files"],
  list: ["list_files"],
  listfiles: ["list_files"],
  listdirectory: ["list_files"],
  listdir: ["list_files"],
  filesearch: ["list_files"],
  write: ["write_file"],
  writefile: ["write_file"],
  createfile: ["write_file"],
  edit: ["edit_file"],
  multiedit: ["edit_file"],
  editfile: ["edit_file"],
  editfiles: ["edit_file", "write_file"],
  replace: ["edit_file"],
  applypatch: ["edit_file", "write_file"],
  patch: ["edit_file"],
  bash: ["run_command"],
  shell: ["run_command"],
  execute: ["run_command"],
  runcommand: ["run_command"],
  runcommands: ["run_command"],
  runinterminal: ["run_command"],
  runshellcommand: ["run_command"],
  terminal: ["run_command"],
};

/** In `.github/agents` and `.opencode/agent`, `edit` means every change of files. */
export function mapTools(given: readonly string[], editMeansWrite = false): MappedTools {
  if (given.includes("*")) return { names: null, unknown: [], restricted: [] };
  const names = new Set<string>();
  const unknown: string[] = [];
  const restricted: string[] = [];
  for (const item of given) {
    const bracket = item.indexOf("(");
    const key = plainName(bracket < 0 ? item : item.slice(0, bracket));
    const found = Object.hasOwn(TOOLS, key) ? TOOLS[key] : undefined;
    if (found === undefined) unknown.push(item);
    else if (bracket >= 0 && !item.endsWith("(*)")) restricted.push(item);
    else for (const name of editMeansWrite && key === "edit" ? [...found, "write_file"] : found) names.add(name);
  }
  return { names: [...names], unknown, restricted };
}

/** `functions.read_file` and `search/codebase` name a tool of a set. */
function plainName(name: string): string {
  const last = /[^./]*$/.exec(name.trim())?.[0] ?? "";
  return last.toLowerCase().replaceAll(/[-_ ]/g, "");
}
