import type { Command } from 'commander';

/** What a shell completes. */
export interface DescribedOption {
  /** Without the dash; absent if there is none. */
  readonly short?: string;
  /** Without the dashes. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export interface DescribedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly DescribedOption[];
}

/** The program itself with an empty name, then its commands. */
export function describeCommands(program: Command): DescribedCommand[] {
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
