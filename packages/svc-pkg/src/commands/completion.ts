import type { Command } from 'commander';
import { printResult } from '../output/print.ts';
import { type Operation, operation } from './define-operation.ts';

/** Prints a script that lets a shell complete commands and options. */
export const completion: Operation = (command, cli) => {
  const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
  operation({
    summary: 'print a completion script for a shell',
    description: 'Prints a script that lets bash, zsh or fish complete commands and options.',
    arguments: { shell: ['<shell>', 'bash, zsh or fish'] },
    examples: [
      'svc-pkg completion bash > ~/.local/share/bash-completion/completions/svc-pkg',
      'svc-pkg completion zsh > ~/.zfunc/_svc-pkg',
      'svc-pkg completion fish > ~/.config/fish/completions/svc-pkg.fish',
    ],
    async run({ shell }) {
      const script = shells[shell as keyof typeof shells](describeCommands(command.parent ?? command));
      await printResult(cli, { text: () => script, json: () => JSON.stringify({ shell, script }) });
    },
  })(command, cli);
  command.registeredArguments[0]?.choices(Object.keys(shells));
};

/** What a shell completes. */
interface DescribedOption {
  /** Without the dash; absent if there is none. */
  readonly short?: string;
  /** Without the dashes. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

interface DescribedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly DescribedOption[];
}

/** The program itself with an empty name, then its commands. */
function describeCommands(program: Command): DescribedCommand[] {
  const shared = optionsOf(program);
  return [
    { name: '', description: program.description(), options: shared },
    ...program.commands.map((command) => ({
      name: command.name(),
      description: command.summary() || command.description(),
      options: [...optionsOf(command), ...shared.filter(({ long }) => long !== 'version')],
    })),
  ];
}

function optionsOf(command: Command): DescribedOption[] {
  return command.options
    .filter(({ hidden, long }) => !hidden && long !== undefined)
    .map(({ short, long = '', description, required, optional, argChoices = [] }) => ({
      ...(short !== undefined && { short: short.slice(1) }),
      long: long.slice(2),
      description,
      takesValue: required || optional,
      choices: argChoices,
    }));
}

/** A completion script for bash 3.2 or newer: commands, options and their values, and files elsewhere. */
function bashCompletion(commands: readonly DescribedCommand[]): string {
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

/** A completion script for zsh, with the descriptions of commands and options. */
function zshCompletion(commands: readonly DescribedCommand[]): string {
  const [program, ...named] = commands;
  const list = named.map(({ name, description }) => `    ${zshWord(`${name}:${description}`)}`);
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
  return zshWord(`--${long}[${text}]${value}`);
}

const zshWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A completion script for fish, with the descriptions of commands and options. */
function fishCompletion(commands: readonly DescribedCommand[]): string {
  const [program, ...named] = commands;
  const lines = [
    '# fish completion for svc-pkg',
    ...(program?.options ?? []).map((option) => lineOf('__fish_use_subcommand', option)),
    ...named.map(
      ({ name, description }) =>
        `complete -c svc-pkg -n __fish_use_subcommand -f -a ${name} -d ${fishWord(description)}`,
    ),
    ...named.flatMap(({ name, options }) =>
      options.map((option) => lineOf(fishWord(`__fish_seen_subcommand_from ${name}`), option)),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function lineOf(
  condition: string,
  { short, long, description, takesValue, choices }: DescribedOption,
): string {
  return [
    `complete -c svc-pkg -n ${condition} -l ${long}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(takesValue ? ['-r'] : []),
    ...(choices.length > 0 ? [`-a ${fishWord(choices.join(' '))}`] : []),
    `-d ${fishWord(description)}`,
  ].join(' ');
}

const fishWord = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
