import type { DescribedCommand, DescribedOption } from './described-command.ts';

/** A completion script for zsh, with the descriptions of commands and options. */
export function zshCompletion(commands: readonly DescribedCommand[]): string {
  const [program, ...named] = commands;
  const list = named.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`);
  const cases = named.map(
    ({ name, options }) => `        ${name}) _arguments ${options.map(specOf).join(' ')} '*:file:_files' ;;`,
  );
  return `#compdef svc-pkg
_svc_pkg() {
  local context state line
  local -a commands
  commands=(
${list.join('\n')}
  )
  _arguments -C ${(program?.options ?? []).map(specOf).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
${cases.join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_svc_pkg" ]; then _svc_pkg "$@"; else compdef _svc_pkg svc-pkg; fi
`;
}

function specOf({ long, description, takesValue, choices }: DescribedOption): string {
  const text = description.replaceAll(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  const value = takesValue ? `:value:${choices.length > 0 ? `(${choices.join(' ')})` : '_files'}` : '';
  return quoted(`--${long}[${text}]${value}`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
