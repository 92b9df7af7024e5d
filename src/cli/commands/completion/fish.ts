/**
 * The script for fish. It runs the `errand` of the PATH, not the program that was typed, which may be another one.
 */

import { type CommandWords, type OptionWords, valued } from "./command-words.ts";

export function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, description, options, args }) => [
    `complete -c errand -n '__errand_at "" 0' -a ${name} -d ${quoted(description)}`,
    ...options.map((option) => optionLine(name, option)),
    ...args.flatMap((offered, place) => argumentLine(name, offered, place)),
  ]);
  const names = commands.map(({ name }) => name).join(" ");
  return `# fish completion of errand; printed by: errand completion fish

# True if the command and so many of its arguments stand before the cursor.
function __errand_at
    set -l command ""
    set -l place 0
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word ${valued(commands).join(" ")}
            set skip 1
        else if string match -q -- '-*' $word
            continue
        else if test -z "$command"
            set command $word
        else
            set place (math $place + 1)
        end
    end
    test "$command" = "$argv[1]"; and test $place = $argv[2]
end

function __errand_in
    contains -- $argv[1] (commandline -opc)[2..-1]
end

function __errand_ids
    set -l words (commandline -opc)
    set -l store
    for i in (seq (count $words))
        if test "$words[$i]" = --store; and test $i -lt (count $words)
            set store --store (string replace -r '^~/' "$HOME/" -- $words[(math $i + 1)])
        else if string match -q -- '--store=*' $words[$i]
            set store --store (string replace -- --store= "" $words[$i])
        end
    end
    command errand completion $argv[1] $store 2>/dev/null | string match -r '^[A-Za-z0-9/-]+(?:\\t.*)?$'
end

complete -c errand -f
${lines.join("\n")}
complete -c errand -n '__errand_at "" 0' -a help -d 'print the help of a command'
complete -c errand -n '__errand_at help 0' -a ${quoted(names)}
`;
}

function optionLine(command: string, { long, short, meaning, value }: OptionWords): string {
  const spelled = `${short === null ? "" : `-s ${short.slice(1)} `}-l ${long.slice(2)}`;
  const taken = value === null ? "" : value === "file" ? " -r -F" : " -x";
  return `complete -c errand -n '__errand_in ${command}' ${spelled}${taken} -d ${quoted(meaning)}`;
}

function argumentLine(command: string, offered: CommandWords["args"][number], place: number): string[] {
  if (offered === null) return [];
  const at = `complete -c errand -n '__errand_at ${command} ${place}'`;
  if (typeof offered !== "string") return [`${at} -a ${quoted(offered.join(" "))}`];
  if (offered === "ids and files") return [`${at} -F -k -a '(__errand_ids ids)'`];
  return [`${at} -k -a '(__errand_ids ${offered})'`];
}

/** Single quotes of fish take a backslash before a quote or a backslash. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
