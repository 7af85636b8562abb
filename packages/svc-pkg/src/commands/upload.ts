import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { showProgress } from '../output/progress.ts';
import { type DatasetResponse, printDataset } from '../service/dataset-response.ts';
import type { JsonResponse } from '../service/service-client.ts';
import { openService, type ServiceOptions } from '../service/service-options.ts';
import { storeDataset } from '../service/store-dataset.ts';
import { createUploadForm } from '../service/upload-form.ts';
import { backgroundOption, withExamples, withServiceOptions } from './define-command.ts';

interface UploadOptions extends ServiceOptions {
  readonly name?: string;
  readonly description?: string;
  readonly background?: boolean;
}

/** `upload`: stores a package as a dataset of a service. */
export function addUploadCommand(program: Command, cli: Cli): void {
  const command = program
    .command('upload')
    .summary('import a package into a service')
    .description('Sends a package to a service, which checks it and stores all of it or nothing.')
    .argument('<package>', 'a .pkg.zip file')
    .option('--name <name>', 'name of the dataset (default: the name in the manifest, else the file name)')
    .option('--description <text>', 'description of the dataset (default: the description in meta.json)')
    .addOption(backgroundOption())
    .action(async (path: string, options: UploadOptions) => {
      await printDataset(cli, await upload(cli, path, options));
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg upload gsm8k.pkg.zip',
    'svc-pkg upload gsm8k.pkg.zip --name "GSM8K" --api-url https://datasets.example.org',
  ]);
}

async function upload(
  cli: Cli,
  path: string,
  options: UploadOptions,
): Promise<JsonResponse<DatasetResponse>> {
  const { name, description } = options;
  const service = openService(cli, options);
  using progress = showProgress(cli, 'sending');
  const form = await createUploadForm(path, { name, description }, progress.update);
  const request = {
    method: 'POST',
    path: '/datasets/upload',
    headers: { 'content-type': form.contentType, 'content-length': String(form.byteLength) },
    body: form.body,
  } as const;
  return await storeDataset(cli, service, request, options.background === true);
}
