/**
 * The script for bash, from version 3.2 on. Everything but ids is in it; those are asked for when they are wanted.
 *
 * Invariants:
 *  1. No word is expanded: `compgen -W` and an unquoted `$(…)` would execute or match files with what a store holds.
 *  2. It runs the `errand` of the PATH, not the program that was typed: `./errand` may be another program.
 *  3. Names of files are put into the line quoted.
 */

import { type CommandWords, valued } from "./command-words.ts";

export function bashScript(commands: readonly CommandWords[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const options = commands.map(({ name, options }) => {
    const words = options.flatMap(({ long, short }) => (short === null ? [long] : [short, long]));
    return `    ${name}) words="${words.join(" ")}" ;;`;
  });
  const args = commands.flatMap(({ name, args }) =>
    args.flatMap((offered, place) => (offered === null ? [] : [`    ${name}:${place}) ${offer(offered)} ;;`])),
  );
  return `# bash completion of errand; printed by: errand completion bash
_errand() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" command="" store="" option="" words=""
  local files="" ids="" quote="" word="" place=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
    ${valued(commands).join("|")})
      option="\${COMP_WORDS[i]}"
      [ "\${COMP_WORDS[i + 1]}" = "=" ] && i=$((i + 1))
      i=$((i + 1))
      if [ "$i" -lt "$COMP_CWORD" ]; then
        [ "$option" = "--store" ] && store="\${COMP_WORDS[i]}"
        option=""
      fi
      ;;
    -*) ;;
    *) if [ -z "$command" ]; then command="\${COMP_WORDS[i]}"; else place=$((place + 1)); fi ;;
    esac
  done
  [ "$cur" = "=" ] && cur=""
  if [ -n "$option" ]; then
    case "$option" in ${valued(commands, "file").join("|")}) files=yes ;; esac
  elif [ -z "$command" ]; then
    words="${names} help --help --version"
  elif [ "\${cur#-}" != "$cur" ]; then
    case "$command" in
${options.join("\n")}
    esac
  else
    case "$command:$place" in
${args.join("\n")}
    help:0) words="${names}" ;;
    esac
  fi
  if [ -n "$ids" ]; then
    store="\${store//[\\"\\']/}"
    store="\${store/#\\~\\//$HOME/}"
    words="$(command errand completion "$ids" \${store:+--store "$store"} 2>/dev/null | cut -f1)"
  else
    words="\${words// /$'\\n'}"
  fi
  while IFS= read -r word; do
    case "$word" in
    "" | *[!A-Za-z0-9/-]*) ;;
    "$cur"*) COMPREPLY+=("$word") ;;
    esac
  done <<<"$words"
  if [ -n "$files" ]; then
    if type compopt >/dev/null 2>&1; then compopt -o filenames 2>/dev/null; else quote=yes; fi
    while IFS= read -r word; do
      [ -n "$quote" ] && printf -v word %q "$word"
      [ -n "$word" ] && COMPREPLY+=("$word")
    done <<<"$(compgen -f -- "$cur")"
  fi
}
complete -F _errand errand
`;
}

function offer(offered: NonNullable<CommandWords["args"][number]>): string {
  if (typeof offered !== "string") return `words="${offered.join(" ")}"`;
  return offered === "ids and files" ? "ids=ids files=yes" : `ids=${offered}`;
}
