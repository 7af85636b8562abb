import { type Command, Option } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { downloadTable, TABLE_FORMATS } from '../../service/download-table.ts';
import { runPath } from '../../service/runs/run-response.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';
import { addListResultsCommand } from './list-results.ts';
import { addPushResultsCommand } from './push-results.ts';

interface Options extends ServiceOptions {
  readonly format: string;
  readonly output: string;
  readonly force?: boolean;
}

/** `results`: the results of a run as JSON Lines or a table. */
export function addResultsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('results')
    .summary('write the results of a run as JSON Lines, CSV or Parquet')
    .description('Writes the results of a run in item order, as far as there are any.')
    .argument('<run>', 'id of the run')
    .addOption(
      new Option('--format <format>', 'format of the output').choices(TABLE_FORMATS).default('jsonl'),
    )
    .option('-o, --output <path>', 'file to write to', '-')
    .option('-f, --force', 'replace an existing output')
    .action(async (run: string, { format, output, force = false, ...options }: Options) => {
      const path = runPath(run, `results.${format}`);
      await downloadTable(cli, openService(cli, options), { path, output, force });
    });
  withServiceOptions(command);
  addListResultsCommand(command, cli);
  addPushResultsCommand(command, cli);
  withExamples(command, ['svc-pkg results 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --format csv -o results.csv']);
}
