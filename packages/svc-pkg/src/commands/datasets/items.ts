import { type Command, Option } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { VERSION_ARGUMENT } from '../../service/dataset-reference.ts';
import { downloadTable, TABLE_FORMATS } from '../../service/download-table.ts';
import { findVersion } from '../../service/find-dataset.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly section?: string;
  readonly format: string;
  readonly output: string;
  readonly force?: boolean;
}

/** `items`: the items of a dataset as JSON Lines or a table. */
export function addItemsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('items')
    .summary('write the items of a dataset as JSON Lines, CSV or Parquet')
    .description('Writes the items of a dataset in their order: as canonical JSON Lines, or as a table.')
    .argument('<dataset>', VERSION_ARGUMENT)
    .option('--section <name>', 'only this section')
    .addOption(
      new Option('--format <format>', 'format of the output').choices(TABLE_FORMATS).default('jsonl'),
    )
    .option('-o, --output <path>', 'file to write to', '-')
    .option('-f, --force', 'replace an existing output')
    .action(async (dataset: string, { section, format, output, force = false, ...options }: Options) => {
      const service = openService(cli, options);
      const { id, version } = await findVersion(service, dataset);
      const path = `/datasets/${encodeURIComponent(id)}/items.${format}`;
      await downloadTable(cli, service, { path, query: { section, version }, output, force });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg items GSM8K --section test | head -n 3',
    'svc-pkg items GSM8K@3 --format parquet -o gsm8k.parquet',
  ]);
}
