import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { printHint } from '../output/print-hint.ts';
import { showProgress } from '../output/progress.ts';
import { openInputFile } from '../package/input-file.ts';
import type { JsonResponse, ServiceRequest } from '../service/client/service-client.ts';
import { type DatasetResponse, printDataset } from '../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../service/service-options.ts';
import { storeDataset } from '../service/store-dataset.ts';
import { createUploadForm } from '../service/upload-form.ts';
import { backgroundOption, withExamples, withServiceOptions } from './define-command.ts';

interface UploadOptions extends ServiceOptions {
  readonly name?: string;
  readonly description?: string;
  readonly background: boolean;
}

/** `upload`: stores a package as a dataset of a service. */
export function addUploadCommand(program: Command, cli: Cli): void {
  const command = program
    .command('upload')
    .summary('import a package into a service')
    .description('Sends a package to a service, which checks it and stores all of it or nothing.')
    .argument('<package>', 'a .pkg.zip file, - for standard input')
    .option('--name <name>', 'name of the dataset (default: the name in the manifest, else the file name)')
    .option('--description <text>', 'description of the dataset (default: the description in meta.json)')
    .addOption(backgroundOption())
    .action(async (path: string, options: UploadOptions) => {
      const dataset = await upload(cli, path, options);
      await printDataset(cli, dataset);
      await printHint(
        cli,
        `Next: svc-pkg run ${dataset.value.id} --set provider.type=echo, or svc-pkg open ${dataset.value.id}`,
      );
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
  await using input = await openInputFile(cli, path);
  using progress = showProgress(cli, 'sending');
  const requestOf = async (idempotencyKey: string): Promise<ServiceRequest> => {
    // The same bytes in each attempt: the service compares them.
    const form = await createUploadForm(input.path, { name, description }, idempotencyKey, progress.update);
    const headers = { 'content-type': form.contentType, 'content-length': String(form.byteLength) };
    return { method: 'POST', path: '/datasets/upload', headers, body: form.body };
  };
  return await storeDataset(cli, service, requestOf, options.background);
}
