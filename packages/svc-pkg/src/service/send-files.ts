import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { UploadOptions, UploadSource } from '@svc/client';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { CliError, toFileError, withFileErrors } from '../errors/cli-error.ts';
import { showProgress } from '../output/progress.ts';
import { type InputFile, inputNames, openInputFile } from '../package/input-file.ts';
import { repeatLost, type ServiceClient } from './service-client.ts';

/** Sends the files of a command, again after a lost connection; a terminal shows how much of them was sent. */
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

const CHUNK_BYTES = 256 * 1024;

/** A file that is uploaded: as many bytes as it has now, read while they are sent. */
export async function openUploadSource(
  { path, shown }: Pick<InputFile, 'path' | 'shown'>,
  name: string,
): Promise<Omit<UploadSource, 'read'> & { read(): AsyncIterable<Uint8Array> }> {
  const byteLength = await sizeOf(path, shown);
  return { name, byteLength, read: () => readFirst(path, byteLength, shown) };
}

async function* readFirst(path: string, byteLength: number, shown: string): AsyncGenerator<Uint8Array> {
  let readBytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, end: byteLength - 1 })) {
      readBytes += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    throw toFileError(error, 'read', shown);
  }
  if (readBytes !== byteLength) {
    throw new CliError('io_error', 'The file became shorter while it was sent', {
      location: { file: shown },
    });
  }
}

async function sizeOf(path: string, shown: string): Promise<number> {
  const found = await withFileErrors('read', shown, () => stat(path));
  if (found.isFile() && found.size > 0) return found.size;
  const reason = found.isFile() ? 'it is empty' : 'it is not a regular file';
  throw new CliError('io_error', `Cannot read the file: ${reason}`, { location: { file: shown } });
}
