import type { DescribedCommand } from './described-command.ts';

/** A completion script for bash: commands, options, and files elsewhere. */
export function bashCompletion(commands: readonly DescribedCommand[]): string {
  const [program, ...named] = commands;
  const words = (command: DescribedCommand | undefined): string =>
    (command?.options ?? [])
      .flatMap(({ short, long }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])])
      .join(' ');
  const cases = named.map((command) => `    ${command.name}) options="${words(command)}" ;;`);
  return `# bash completion for svc-pkg
_svc_pkg() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" options word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) command="$word"; break ;;
    esac
  done
  case "$command" in
    "") options="${words(program)} ${named.map(({ name }) => name).join(' ')}" ;;
${cases.join('\n')}
    *) options="" ;;
  esac
  if [[ -z "$command" || "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _svc_pkg svc-pkg
`;
}
