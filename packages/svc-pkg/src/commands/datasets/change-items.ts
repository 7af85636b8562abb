import { changeItems, checkChange, type ItemsChange } from '@svc/client';
import type { Command } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { type TableOptions, tableFields, withTableOptions } from '../../mapping/table-options.ts';
import { printReport } from '../../output/print.ts';
import { type ChangeOptions, changeHeaders } from '../../service/change-request.ts';
import { changeResult, printDryRun } from '../../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { DATASET_ARGUMENT, findDataset } from '../../service/references.ts';
import { sendFiles } from '../../service/send-files.ts';
import { withChangeOptions, withExamples, withServiceOptions } from '../define-command.ts';

type Options = ServiceOptions &
  TableOptions &
  ChangeOptions & { readonly section?: string; readonly dryRun?: boolean };

/** `append`: items go to the end of a dataset. */
export function addAppendCommand(program: Command, cli: Cli): void {
  const command = program
    .command('append')
    .summary('append items to a dataset')
    .description(
      'Makes a version of a dataset with the items of files at the end of its sections. New sections go to the end.',
    );
  withFiles(cli, command, 'append');
  withExamples(command, [
    'svc-pkg append my-set failures.jsonl -m "failures of last night"',
    'svc-pkg append my-set more.csv --prompt-column question --answer-column answer --dry-run',
  ]);
}

/** `upsert`: items replace those of the same id. */
export function addUpsertCommand(program: Command, cli: Cli): void {
  const command = program
    .command('upsert')
    .summary('replace items of a dataset by their ids, and append others')
    .description(
      'Makes a version of a dataset in which the items of files are in place of those with the same id in their section; ' +
        'others go to the end.',
    );
  withFiles(cli, command, 'upsert');
  withExamples(command, ['svc-pkg upsert my-set corrected.jsonl -m "typing errors" --if-match 1f0c9a5e...']);
}

function withFiles(cli: Cli, command: Command, mode: ItemsChange['mode']): void {
  command
    .argument('<dataset>', DATASET_ARGUMENT)
    .argument('<files...>', 'what upload takes: packages, tables, JSON Lines of items; - for standard input')
    .option(
      '--section <name>',
      'the section of a file that names none (default: the only one of the dataset, or default)',
    );
  withChangeOptions(command).option('--dry-run', 'compare and report errors, but store nothing');
  withTableOptions(command).action(async (dataset: string, paths: readonly string[], options: Options) => {
    const { section, message, ifMatch } = options;
    changeHeaders(options);
    const fields = await tableFields(options);
    const service = openService(cli, options);
    const datasetId = await findDataset(service, dataset);
    const change: ItemsChange = { datasetId, mode, ...given({ section, message, ifMatch }) };
    if (options.dryRun) {
      const { check, text } = await sendFiles(cli, service, paths, (sources, sending) =>
        checkChange(sources, change, { ...sending, fields }),
      );
      await printDryRun(cli, check, text);
      return;
    }
    const {
      dataset: value,
      status,
      text,
    } = await sendFiles(cli, service, paths, (sources, sending) =>
      changeItems(sources, change, { ...sending, fields }),
    );
    await printReport(cli, changeResult({ status, value, text }));
  });
  withServiceOptions(command);
}
