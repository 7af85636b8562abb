import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { downloadTable } from '../../service/download-table.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { findVersion, VERSION_ARGUMENT } from '../../service/references.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';
import { formatOf, type TableOptions, withTableOptions } from '../table-output.ts';

interface Options extends ServiceOptions, TableOptions {
  readonly section?: string;
}

/** `items`: the items of a dataset as JSON Lines or a table. */
export function addItemsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('items')
    .summary('write the items of a dataset as JSON Lines, CSV or Parquet')
    .description('Writes the items of a dataset in their order: as canonical JSON Lines, or as a table.')
    .argument('<dataset>', VERSION_ARGUMENT)
    .option('--section <name>', 'only this section')
    .action(async (dataset: string, { section, ...options }: Options) => {
      const { output, force = false } = options;
      const service = openService(cli, options);
      const { id, version } = await findVersion(service, dataset);
      const path = `/datasets/${encodeURIComponent(id)}/items.${formatOf(options)}`;
      await downloadTable(cli, service, { path, query: { section, version }, output, force });
    });
  withTableOptions(command);
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg items GSM8K --section test | head -n 3',
    'svc-pkg items GSM8K@3 -o gsm8k.parquet',
  ]);
}
