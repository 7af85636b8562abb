import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RequestError } from '@svc/runtime';
import busboy from 'busboy';
import type { Request } from 'express';
import type { Spool, SpoolFile } from './spool-file.ts';

export interface UploadLimits {
  readonly maxUploadBytes: number;
  readonly maxFormFields: number;
  readonly maxFormFieldBytes: number;
}

/** A multipart form whose file lies in the spool. Disposing of it deletes the file. */
export interface Upload extends AsyncDisposable {
  readonly path: string;
  readonly bytes: number;
  /** the file name that the client gave, without any folder; empty when it gave none */
  readonly fileName: string;
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Receives a multipart form with one file (RFC 7578), its parts in any order: the file goes to the spool while
 * it arrives, as fast as the disk takes it, and is deleted when anything fails.
 *
 * @param names the fields that the form may have; `file` is the file
 * @throws RequestError `unsupported_media_type`, `invalid_request` (parts missing, repeated, unknown or too
 * large), `upload_too_large` (counted while it streams), `unavailable` (there is no room for it)
 */
export async function receiveUpload(
  request: Request,
  spool: Spool,
  limits: UploadLimits,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Upload> {
  if (!request.is('multipart/form-data')) {
    throw new RequestError(
      'unsupported_media_type',
      `an upload is multipart/form-data, not ${JSON.stringify(request.get('content-type') ?? 'nothing')}`,
    );
  }
  if (Number(request.get('content-length') ?? 0) > maxFormBytes(limits)) throw tooLarge(limits);
  const file = spool.create();
  try {
    await file.makeRoom(Number(request.get('content-length') ?? 0));
    return await parseForm(request, file, limits, names, signal);
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

/** A file of unknown size asks for room in steps of so many bytes. */
const ROOM_STEP_BYTES = 1024 * 1024;

/** The form around the file has its own bounded size: what is beyond both cannot fit. */
const maxFormBytes = (limits: UploadLimits): number =>
  limits.maxUploadBytes + (limits.maxFormFields + 2) * (limits.maxFormFieldBytes + 4096);

const tooLarge = (limits: UploadLimits): RequestError =>
  new RequestError('upload_too_large', `the file is larger than ${limits.maxUploadBytes} bytes`);

const invalid = (path: string, message: string, cause?: unknown): RequestError =>
  new RequestError('invalid_request', message, { errors: [{ message, path }], cause });

/** The file of a form, on its way into the spool. */
interface Received {
  readonly fileName: string;
  readonly content: Readable;
  /** how many bytes, when all are in the spool */
  readonly written: Promise<number>;
}

async function parseForm(
  request: Request,
  file: SpoolFile,
  limits: UploadLimits,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Upload> {
  const form = openForm(request, limits);
  const fields = new Map<string, string>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  let hasFailed = false;
  const fail = (error: unknown): void => {
    if (hasFailed) return;
    hasFailed = true;
    failure.reject(error);
    // The rest is neither parsed nor kept; what the client still sends is discarded.
    request.unpipe(form);
    form.destroy();
    received?.content.destroy(new Error('the form cannot be used'));
    request.resume();
  };
  let received: Received | undefined;

  form.on('field', (name, value, info) => {
    if (info.nameTruncated || !names.includes(name)) {
      fail(invalid(name, `the form has no field ${JSON.stringify(name.slice(0, 100))}`));
    } else if (fields.has(name)) fail(invalid(name, `the field ${name} stands twice in the form`));
    else if (info.valueTruncated) {
      fail(invalid(name, `the field ${name} is longer than ${limits.maxFormFieldBytes} bytes`));
    } else if (typeof value !== 'string')
      fail(invalid(name, `the charset of the field ${name} is not known`));
    else fields.set(name, value);
  });
  form.on('file', (name, content, info) => {
    // What ends the form ends its file too; a file that nobody takes would throw that error at the whole process.
    content.on('error', () => undefined);
    // The parser goes on to the end of the bytes that it has, and would leave such a file without an end.
    if (hasFailed) {
      content.resume();
      return;
    }
    if (name !== 'file') {
      content.resume();
      fail(
        invalid(
          name,
          `the form takes its file as "file", not as ${JSON.stringify((name ?? '').slice(0, 100))}`,
        ),
      );
      return;
    }
    if (received !== undefined) {
      content.resume();
      fail(invalid('file', 'the form has two files'));
      return;
    }
    let bytes = 0;
    let roomBytes = Number(request.get('content-length') ?? 0);
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.byteLength;
        if (bytes > limits.maxUploadBytes) done(tooLarge(limits));
        else if (bytes <= roomBytes) done(null, chunk);
        else {
          roomBytes = bytes + ROOM_STEP_BYTES;
          file.makeRoom(roomBytes).then(() => done(null, chunk), done);
        }
      },
    });
    const written = pipeline(
      content,
      counted,
      createWriteStream(file.path, { mode: 0o600, flags: 'wx' }),
    ).then(() => bytes);
    written.catch(fail);
    received = { fileName: info.filename ?? '', content, written };
  });
  form.on('fieldsLimit', () => fail(invalid('', `the form has more than ${limits.maxFormFields} fields`)));
  form.on('filesLimit', () => fail(invalid('file', 'the form has two files')));
  form.on('partsLimit', () => fail(invalid('', `the form has more than ${limits.maxFormFields + 1} parts`)));

  const closed = new Promise<void>((resolve) => form.on('close', resolve));
  form.on('error', (error) =>
    fail(invalid('', `the form cannot be read: ${(error as Error).message}`, error)),
  );
  const onAbort = (): void => fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  // Also what stands before, between and after the parts, which the parser passes over in silence.
  let arrived = 0;
  const onData = (chunk: Buffer): void => {
    arrived += chunk.byteLength;
    if (arrived > maxFormBytes(limits)) fail(tooLarge(limits));
  };
  try {
    signal.throwIfAborted();
    request.on('data', onData);
    request.pipe(form);
    await Promise.race([closed, failure.promise]);
    if (received === undefined) throw invalid('file', 'the form has no file');
    const bytes = await Promise.race([received.written, failure.promise]);
    return {
      path: file.path,
      bytes,
      fileName: received.fileName,
      fields,
      [Symbol.asyncDispose]: file[Symbol.asyncDispose],
    };
  } finally {
    signal.removeEventListener('abort', onAbort);
    request.off('data', onData);
    // The file is deleted by our caller only after its last write has ended.
    await received?.written.catch(() => {});
  }
}

function openForm(request: Request, limits: UploadLimits): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: {
        fields: limits.maxFormFields,
        // a field of this size counts as cut off
        fieldSize: limits.maxFormFieldBytes + 1,
        fieldNameSize: 100,
        files: 1,
        // told of when the part with this number ends
        parts: limits.maxFormFields + 2,
        headerPairs: 100,
      },
    });
  } catch (error) {
    throw invalid('', `the form cannot be read: ${(error as Error).message}`, error);
  }
}
