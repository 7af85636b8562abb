import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CliError } from '../errors/cli-error.ts';
import { toFileError } from '../errors/file-error.ts';

/** A multipart form (RFC 7578) whose file is read from disk while it is sent. */
export interface UploadForm {
  readonly contentType: string;
  readonly byteLength: number;
  /** Keeps at most one chunk of the file in memory; can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * The form of an upload: the fields, then the file.
 *
 * @param idempotencyKey makes the boundary, so that a repeated request has the same bytes
 * @param onProgress called with the number of bytes that were sent, and of all bytes of the file
 * @throws CliError `io_error`, here and while the body is read
 */
export async function createUploadForm(
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
  idempotencyKey: string,
  onProgress: (sentBytes: number, totalBytes: number) => void,
): Promise<UploadForm> {
  const boundary = `svc-pkg-${idempotencyKey}`;
  const fileSize = await sizeOf(path);
  const head = Buffer.from(
    [
      ...Object.entries(fields).flatMap(([name, value]) =>
        value === undefined
          ? []
          : [`--${boundary}`, `Content-Disposition: form-data; name="${name}"`, '', value],
      ),
      `--${boundary}`,
      `Content-Disposition: form-data; name="file"; filename="${escapeFileName(basename(path))}"`,
      'Content-Type: application/octet-stream',
      '',
      '',
    ].join('\r\n'),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);

  async function* body(): AsyncGenerator<Uint8Array> {
    yield head;
    let sentBytes = 0;
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, end: fileSize - 1 })) {
        sentBytes += chunk.byteLength;
        yield chunk;
        onProgress(sentBytes, fileSize);
      }
    } catch (error) {
      throw toFileError(error, 'read', path);
    }
    if (sentBytes !== fileSize) {
      throw new CliError('io_error', 'The file became shorter while it was sent', {
        location: { file: path },
      });
    }
    yield tail;
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    byteLength: head.byteLength + fileSize + tail.byteLength,
    body: body(),
  };
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
