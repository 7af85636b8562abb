import type { Command, Option } from 'commander';
import { printResult } from '../output/print.ts';
import { type Operation, operation } from './define-operation.ts';

export const completion: Operation = (command, cli) => {
  const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
  operation({
    summary: 'print a completion script for a shell',
    description: 'Prints a script that lets bash, zsh or fish complete commands and options.',
    arguments: { shell: ['<shell>', 'bash, zsh or fish'] },
    service: false,
    examples: [
      'svc-pkg completion bash > ~/.local/share/bash-completion/completions/svc-pkg',
      'svc-pkg completion zsh > ~/.zfunc/_svc-pkg',
      'svc-pkg completion fish > ~/.config/fish/completions/svc-pkg.fish',
    ],
    async run({ shell }) {
      const script = shells[shell as keyof typeof shells](command.parent ?? command);
      await printResult(cli, { text: () => script, json: () => JSON.stringify({ shell, script }) });
    },
  })(command, cli);
  command.registeredArguments[0]?.choices(Object.keys(shells));
};

/** The options of a command, then those of the program that may follow it. */
function optionsOf({ options, parent }: Command): readonly Option[] {
  const shared = parent?.options.filter(({ long }) => long !== '--version') ?? [];
  return [...options, ...shared].filter(({ hidden, long }) => !hidden && long !== undefined);
}

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const descriptionOf = (command: Command): string => command.summary() || command.description();

/** A completion script for bash 3.2 or newer: commands, options and their values, and files elsewhere. */
function bashCompletion(program: Command): string {
  const words = (command: Command): string => {
    const flags = optionsOf(command).flatMap(({ short, long }) => [long, short].filter((flag) => flag));
    return [...flags, '--help', '-h'].join(' ');
  };
  const names = program.commands.map((command) => command.name()).join(' ');
  const cases = program.commands.map((command) => `    ${command.name()}) options="${words(command)}" ;;`);
  const values = program.commands.flatMap((command) =>
    optionsOf(command)
      .filter(({ argChoices }) => argChoices)
      .map(({ long, argChoices = [] }) => {
        return `    "${command.name()} ${long}") values="${argChoices.join(' ')}" ;;`;
      }),
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

/** A completion script for zsh, with the descriptions of commands and options. */
function zshCompletion(program: Command): string {
  const list = program.commands.map(
    (command) => `    ${zshWord(`${command.name()}:${descriptionOf(command)}`)}`,
  );
  const cases = program.commands.map((command) => {
    const specs = optionsOf(command).map(specOf).join(' ');
    return `        ${command.name()}) _arguments ${specs} '*:file:_files' ;;`;
  });
  return `#compdef svc-pkg
_svc_pkg() {
  local context state line
  local -a commands
  commands=(
${list.join('\n')}
  )
  _arguments -C ${optionsOf(program).map(specOf).join(' ')} '1:command:->command' '*::argument:->argument'
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

function specOf(option: Option): string {
  const { long, description, argChoices } = option;
  const text = description.replaceAll(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  const value = takesValue(option) ? `:value:${argChoices ? `(${argChoices.join(' ')})` : '_files'}` : '';
  return zshWord(`${long}[${text}]${value}`);
}

const zshWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A completion script for fish, with the descriptions of commands and options. */
function fishCompletion(program: Command): string {
  const lines = [
    '# fish completion for svc-pkg',
    ...optionsOf(program).map((option) => lineOf('__fish_use_subcommand', option)),
    ...program.commands.map((command) => {
      const shown = `-a ${command.name()} -d ${fishWord(descriptionOf(command))}`;
      return `complete -c svc-pkg -n __fish_use_subcommand -f ${shown}`;
    }),
    ...program.commands.flatMap((command) =>
      optionsOf(command).map((option) =>
        lineOf(fishWord(`__fish_seen_subcommand_from ${command.name()}`), option),
      ),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function lineOf(condition: string, option: Option): string {
  const { short, long = '', argChoices } = option;
  return [
    `complete -c svc-pkg -n ${condition} -l ${long.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(takesValue(option) ? ['-r'] : []),
    ...(argChoices ? [`-a ${fishWord(argChoices.join(' '))}`] : []),
    `-d ${fishWord(option.description)}`,
  ].join(' ');
}

const fishWord = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
