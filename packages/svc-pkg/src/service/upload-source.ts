import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { UploadSource } from '@svc/client';
import { CliError } from '../errors/cli-error.ts';
import { toFileError, withFileErrors } from '../errors/file-error.ts';
import type { InputFile } from '../package/input-file.ts';

interface FileSource extends UploadSource {
  read(): AsyncIterable<Uint8Array>;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * A file on the disk that is uploaded: as many bytes as it has now, read while they are sent.
 *
 * @param name from `inputNames`
 * @throws CliError `io_error`, here and while it is read
 */
export async function openUploadSource(
  { path, shown }: Pick<InputFile, 'path' | 'shown'>,
  name: string,
): Promise<FileSource> {
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
