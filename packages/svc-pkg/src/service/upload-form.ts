import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CliError } from '../errors/cli-error.ts';
import { toFileError } from '../errors/file-error.ts';

/** A multipart form (RFC 7578) whose files are read from disk while they are sent. */
export interface UploadForm {
  readonly contentType: string;
  readonly byteLength: number;
  /** Keeps at most one chunk of a file in memory; can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * The form of an upload: the fields, then the files.
 *
 * @param idempotencyKey makes the boundary, so that a repeated request has the same bytes
 * @param onProgress called with the number of bytes that were sent, and of all bytes of the files
 * @throws CliError `io_error`, here and while the body is read
 */
export async function createUploadForm(
  paths: readonly string[],
  fields: Readonly<Record<string, string | undefined>>,
  idempotencyKey: string,
  onProgress: (sentBytes: number, totalBytes: number) => void,
): Promise<UploadForm> {
  const boundary = `svc-pkg-${idempotencyKey}`;
  const sizes = await Promise.all(paths.map(sizeOf));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  const fieldLines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${boundary}`, `Content-Disposition: form-data; name="${name}"`, '', value],
  );
  const files = paths.map((path, index) => ({
    path,
    size: sizes[index] ?? 0,
    head: Buffer.from(
      [
        ...(index === 0 ? fieldLines : ['']),
        `--${boundary}`,
        `Content-Disposition: form-data; name="file"; filename="${escapeFileName(basename(path))}"`,
        'Content-Type: application/octet-stream',
        '',
        '',
      ].join('\r\n'),
    ),
  }));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);

  async function* body(): AsyncGenerator<Uint8Array> {
    let sentBytes = 0;
    for (const { path, size, head: fileHead } of files) {
      yield fileHead;
      for await (const chunk of fileContent(path, size)) {
        sentBytes += chunk.byteLength;
        yield chunk;
        onProgress(sentBytes, totalBytes);
      }
    }
    yield tail;
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    byteLength: files.reduce((sum, file) => sum + file.head.byteLength + file.size, tail.byteLength),
    body: body(),
  };
}

/** The first bytes of a file, as many as it had. @throws CliError `io_error` */
async function* fileContent(path: string, size: number): AsyncGenerator<Uint8Array> {
  let sentBytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, end: size - 1 })) {
      sentBytes += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
  if (sentBytes !== size) {
    throw new CliError('io_error', 'The file became shorter while it was sent', { location: { file: path } });
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile() && found.size > 0) return found.size;
    const reason = found.isFile() ? 'it is empty' : 'it is not a regular file';
    throw new CliError('io_error', `Cannot read the file: ${reason}`, { location: { file: path } });
  } catch (error) {
    throw toFileError(error, 'read', path);
  }
}

/** Like browsers (HTML, "multipart/form-data encoding algorithm"). */
function escapeFileName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
