import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { downloadTable } from '../../service/download-table.ts';
import { runPath } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';
import { formatOf, type TableOptions, withTableOptions } from '../table-output.ts';
import { addListResultsCommand } from './list-results.ts';
import { addPushResultsCommand } from './push-results.ts';

/** `results`: the results of a run as JSON Lines or a table. */
export function addResultsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('results')
    .summary('write the results of a run as JSON Lines, CSV or Parquet')
    .description('Writes the results of a run in item order, as far as there are any.')
    .argument('<run>', 'id of the run')
    .action(async (run: string, options: ServiceOptions & TableOptions) => {
      const { output, force = false } = options;
      const path = runPath(run, `results.${formatOf(options)}`);
      await downloadTable(cli, openService(cli, options), { path, output, force });
    });
  withTableOptions(command);
  withServiceOptions(command);
  addListResultsCommand(command, cli);
  addPushResultsCommand(command, cli);
  withExamples(command, ['svc-pkg results 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -o results.csv']);
}
