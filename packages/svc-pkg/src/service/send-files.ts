import type { UploadOptions, UploadSource } from '@svc/client';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { showProgress } from '../output/progress.ts';
import { type InputFile, inputNames, openInputFile } from '../package/input-file.ts';
import { repeatLost } from './client/repeat-lost.ts';
import type { ServiceClient } from './client/service-client.ts';
import { openUploadSource } from './upload-source.ts';

/**
 * Sends the files of a command, again after a lost connection; a terminal shows how much of them was sent.
 *
 * @param send sends them with the given options
 * @throws CliError `io_error`; what `send` throws
 */
export async function sendFiles<T>(
  cli: Cli,
  { url, slowFetch }: ServiceClient,
  paths: readonly string[],
  send: (sources: readonly UploadSource[], options: UploadOptions) => Promise<T>,
): Promise<T> {
  await using opened = new CleanUp();
  const inputs: InputFile[] = [];
  for (const path of paths) inputs.push(opened.use(await openInputFile(cli, path)));
  const names = inputNames(paths);
  const sources = await Promise.all(
    inputs.map((input, index) => openUploadSource(input, names[index] ?? input.shown)),
  );
  using progress = showProgress(cli, 'sending');
  const options = { baseUrl: url, fetch: slowFetch, signal: cli.signal, onProgress: progress.update };
  return await repeatLost(cli, (idempotencyKey) => send(sources, { ...options, idempotencyKey }));
}
