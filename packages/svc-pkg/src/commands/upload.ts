import { canonicalJson } from '@svc/jsonl-v23/json';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { mappingOf } from '../mapping/mapping-options.ts';
import { hintsOf, type TableOptions, withTableOptions } from '../mapping/table-options.ts';
import { printHint } from '../output/print-hint.ts';
import { showProgress } from '../output/progress.ts';
import { openInputFile } from '../package/input-file.ts';
import type { JsonResponse, ServiceRequest } from '../service/client/service-request.ts';
import { type DatasetResponse, printDataset } from '../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../service/service-options.ts';
import { storeDataset } from '../service/store-dataset.ts';
import { createUploadForm } from '../service/upload-form.ts';
import { backgroundOption, withExamples, withServiceOptions } from './define-command.ts';

type UploadOptions = ServiceOptions &
  TableOptions & {
    readonly name?: string;
    readonly description?: string;
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
    .option('--convert', 'convert an older archive')
    .addOption(backgroundOption());
  withTableOptions(command).action(async (paths: readonly string[], options: UploadOptions) => {
    const dataset = await upload(cli, paths, options);
    await printDataset(cli, dataset);
    await printHint(
      cli,
      `Next: svc-pkg run ${dataset.value.id} --set provider.type=echo, or svc-pkg open ${dataset.value.id}`,
    );
  });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg upload gsm8k.pkg.zip',
    'svc-pkg upload questions.csv --name "My set" --prompt-column question --answer-column answer',
    'svc-pkg upload train.csv test.csv --prompt-column question',
    'svc-pkg upload gsm8k.pkg.zip --name "GSM8K" --api-url https://datasets.example.org',
  ]);
}

async function upload(
  cli: Cli,
  paths: readonly string[],
  options: UploadOptions,
): Promise<JsonResponse<DatasetResponse>> {
  const fields = await fieldsOf(options);
  const service = openService(cli, options);
  await using opened = new AsyncDisposableStack();
  const inputs: string[] = [];
  for (const path of paths) inputs.push(opened.use(await openInputFile(cli, path)).path);
  using progress = showProgress(cli, 'sending');
  const requestOf = async (idempotencyKey: string): Promise<ServiceRequest> => {
    // The same bytes in each attempt: the service compares them.
    const form = await createUploadForm(inputs, fields, idempotencyKey, progress.update);
    const headers = { 'content-type': form.contentType, 'content-length': String(form.byteLength) };
    return { method: 'POST', path: '/datasets/upload', headers, body: form.body };
  };
  return await storeDataset(cli, service, requestOf, options.background);
}

async function fieldsOf(options: UploadOptions): Promise<Record<string, string | undefined>> {
  const { name, description, convert } = options;
  const given = await mappingOf(options);
  const { format, ...written } = hintsOf(options);
  return {
    name,
    description,
    mapping: given === null ? undefined : canonicalJson(given.wire),
    format,
    options: Object.keys(written).length === 0 ? undefined : JSON.stringify(written),
    convert: convert === true ? 'true' : undefined,
  };
}
