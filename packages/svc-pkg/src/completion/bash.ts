import type { DescribedCommand } from './described-command.ts';

/** A completion script for bash 3.2 or newer: commands, options and their values, and files elsewhere. */
export function bashCompletion(commands: readonly DescribedCommand[]): string {
  const [program, ...named] = commands;
  const words = (command: DescribedCommand | undefined): string =>
    [
      ...(command?.options ?? []).flatMap(({ short, long }) => [
        `--${long}`,
        ...(short === undefined ? [] : [`-${short}`]),
      ]),
      '--help',
      '-h',
    ].join(' ');
  const names = named.map(({ name }) => name).join(' ');
  const cases = named.map((command) => `    ${command.name}) options="${words(command)}" ;;`);
  const values = named.flatMap(({ name, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => `    "${name} --${long}") values="${choices.join(' ')}" ;;`),
  );
  return `# bash completion for svc-pkg
_svc_pkg() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" options="" values="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) command="$word"; break ;;
    esac
  done
  case "$command" in
    "") options="${words(program)} ${names} help" ;;
    help) values="${names}" ;;
${cases.join('\n')}
  esac
  case "$command $previous" in
    "completion completion") values="bash zsh fish" ;;
${values.join('\n')}
  esac
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(
    if [[ -n "$values" ]]; then compgen -W "$values" -- "$current"
    elif [[ -z "$command" || "$current" == -* ]]; then compgen -W "$options" -- "$current"
    else compgen -f -- "$current"
    fi
  )
}
complete -o filenames -F _svc_pkg svc-pkg
`;
}
