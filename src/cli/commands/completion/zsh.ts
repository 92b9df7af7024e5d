/**
 * The script for zsh: as a file of its `fpath`, or sourced. It runs the `errand` of the PATH, not the program that was
 * typed, which may be another one.
 */

import type { CommandWords, OptionWords } from "./command-words.ts";

export function zshScript(commands: readonly CommandWords[]): string {
  const described = commands.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`);
  const cases = commands.map(
    ({ name, options, args }) => `    ${name})
      _arguments -s ${[...options.map(optionSpec), ...args.map(argumentSpec)].join(" \\\n        ")}
      ;;`,
  );
  return `#compdef errand
# zsh completion of errand; printed by: errand completion zsh

_errand_ids() {
  local -a ids shown
  local line id
  local -a named
  [[ -n "$opt_args[--store]" ]] && named=(--store "\${\${(Q)opt_args[--store]}/#\\~\\//$HOME/}")
  while IFS=$'\\t' read -r line; do
    id="\${line%%$'\\t'*}"
    [[ -z "$id" || "$id" = *[^A-Za-z0-9/-]* ]] && continue
    ids+=("$id")
    shown+=("\${line/$'\\t'/  }")
  done < <(command errand completion "$1" "\${named[@]}" 2>/dev/null)
  compadd -V errand-ids -l -d shown -a ids
}

_errand() {
  local curcontext="$curcontext" state line
  local -a commands
  typeset -A opt_args
  commands=(
${described.join("\n")}
    'help:print the help of a command'
  )
  _arguments -C '(- *)'{-h,--help}'[print this help]' '(- *)'{-V,--version}'[print the version]' \\
    '1: :->command' '*:: :->arguments'
  case "$state" in
  command) _describe -t commands 'errand command' commands ;;
  arguments)
    case "$line[1]" in
${cases.join("\n")}
    help) _describe -t commands 'errand command' commands ;;
    esac
    ;;
  esac
}

if [[ "$funcstack[1]" = "_errand" ]]; then _errand "$@"; else compdef _errand errand; fi
`;
}

function optionSpec({ long, short, meaning, value }: OptionWords): string {
  const meaningText = `[${meaning.replaceAll(/[[\]:\\]/g, "\\$&")}]`;
  const taken = value === null ? "" : value === "file" ? ":file:_files" : ":value: ";
  if (short === null) return quoted(`${long}${meaningText}${taken}`);
  return `${quoted(`(${short} ${long})`)}{${short},${long}}${quoted(`${meaningText}${taken}`)}`;
}

function argumentSpec(offered: CommandWords["args"][number], place: number): string {
  const at = `${place + 1}`;
  if (offered === null) return quoted(`${at}:text: `);
  if (typeof offered !== "string") return quoted(`${at}:word:(${offered.join(" ")})`);
  if (offered === "ids and files") return quoted(`${at}:id or file:{ _errand_ids ids; _files }`);
  // After a space the words are called as they stand.
  return quoted(`${at}:id: _errand_ids ${offered}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
