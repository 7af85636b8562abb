import type { DescribedCommand, DescribedOption } from './described-command.ts';

/** A completion script for fish, with the descriptions of commands and options. */
export function fishCompletion(commands: readonly DescribedCommand[]): string {
  const [program, ...named] = commands;
  const lines = [
    '# fish completion for svc-pkg',
    ...(program?.options ?? []).map((option) => lineOf('__fish_use_subcommand', option)),
    ...named.map(
      ({ name, description }) =>
        `complete -c svc-pkg -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
    ),
    ...named.flatMap(({ name, options }) =>
      options.map((option) => lineOf(quoted(`__fish_seen_subcommand_from ${name}`), option)),
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
    ...(choices.length > 0 ? [`-a ${quoted(choices.join(' '))}`] : []),
    `-d ${quoted(description)}`,
  ].join(' ');
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
