import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { withExamples } from './define-command.ts';

interface Options {
  readonly name?: string;
  readonly output?: string;
  readonly force?: boolean;
}

/** `convert`: an archive of an older shape becomes a package. */
export function addConvertCommand(program: Command, cli: Cli): void {
  const command = program
    .command('convert')
    .summary('turn an archive of an older shape into a package')
    .description(
      'Turns an archive of an older shape into a package and reports what it changed. Nothing is dropped: what has no ' +
        'new place stays where it was. The same archive gives the same package.',
    )
    .argument('<legacy>', 'a .zip file')
    .option(
      '--name <name>',
      'name of the dataset (default: the one that the archive states, else its file name)',
    )
    .option('--output <path>', 'file or folder to write to (default: <legacy>.pkg.zip beside the archive)')
    .option('--force', 'replace an output that exists')
    .action(async (_path: string, _options: Options) => {
      void cli;
    });
  withExamples(command, [
    'svc-pkg convert old.zip',
    'svc-pkg convert old.zip --name "GSM8K" --output packages/',
  ]);
}
