import { uploadFile } from '@svc/client';
import type { Command } from 'commander';
import { type Cli, given } from '../cli-context.ts';
import { type TableOptions, tableFields, withTableOptions } from '../mapping/table-options.ts';
import { printHint, printReport } from '../output/print.ts';
import { datasetResult } from '../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../service/open-service.ts';
import { sendFiles } from '../service/send-files.ts';
import type { JsonResponse } from '../service/service-client.ts';
import { type StoredDataset, storedDataset } from '../service/store-dataset.ts';
import {
  backgroundOption,
  checkName,
  handleOption,
  ifExistsOption,
  withExamples,
  withServiceOptions,
} from './define-command.ts';

type UploadOptions = ServiceOptions &
  TableOptions & {
    readonly name?: string;
    readonly description?: string;
    readonly handle?: string;
    readonly ifExists?: 'reuse' | 'version' | 'error';
    readonly convert?: boolean;
    readonly background: boolean;
  };

/** `upload`: stores a package, or a file with a table, as a dataset of a service. */
export function addUploadCommand(program: Command, cli: Cli): void {
  const command = program
    .command('upload')
    .summary('import a package or files with tables into a service')
    .description(
      'Sends a package, files with tables, or JSON Lines of items to a service, which checks them and stores all of it ' +
        'or nothing. Several files become several sections.',
    )
    .argument(
      '<files...>',
      'a .pkg.zip file, or CSV, TSV, JSON, JSON Lines, Parquet or text files; - for standard input',
    )
    .option('--name <name>', 'name of the dataset (default: the name in the manifest, else the file name)')
    .option('--description <text>', 'description of the dataset (default: the description in meta.json)')
    .addOption(handleOption())
    .addOption(ifExistsOption())
    .option('--convert', 'convert an older archive')
    .addOption(backgroundOption());
  withTableOptions(command).action(async (paths: readonly string[], options: UploadOptions) => {
    const dataset = await upload(cli, paths, options);
    await printReport(cli, datasetResult(dataset));
    const { id, run_id: runId } = dataset.value;
    await printHint(
      cli,
      runId === undefined
        ? `Next: svc-pkg run ${id} --set provider.type=echo, or svc-pkg open ${id}`
        : `Next: svc-pkg results ${runId}, or svc-pkg open --run ${runId}`,
    );
  });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg upload gsm8k.pkg.zip',
    'svc-pkg upload questions.csv --name "My set" --prompt-column question --answer-column answer',
    'svc-pkg upload questions.csv --handle my-set --if-exists version --prompt-column question --answer-column answer',
    'svc-pkg upload train.csv test.csv --prompt-column question',
    'svc-pkg upload gsm8k.pkg.zip --name "GSM8K" --api-url https://datasets.example.org',
  ]);
}

async function upload(
  cli: Cli,
  paths: readonly string[],
  options: UploadOptions,
): Promise<JsonResponse<StoredDataset>> {
  const fields = await fieldsOf(options);
  const service = openService(cli, options);
  const how = { fields, inBackground: options.background, ...given({ ifExists: options.ifExists }) };
  const outcome = await sendFiles(cli, service, paths, (sources, sending) =>
    uploadFile(sources, { ...sending, ...how }),
  );
  return await storedDataset(cli, service, outcome);
}

async function fieldsOf(options: UploadOptions): Promise<Record<string, string>> {
  const { name, description, handle, convert } = options;
  checkName(name);
  const tables = await tableFields(options);
  return given({ name, description, handle, ...tables, convert: convert === true ? 'true' : undefined });
}
