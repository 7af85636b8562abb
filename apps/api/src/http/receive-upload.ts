import { Readable } from 'node:stream';
import { bodyChunks, type Config, checkMediaType, invalidRequest, RequestError } from '@svc/service';
import { type StagedFile, type Staging, UploadStage } from '@svc/service/flows';
import busboy from 'busboy';
import type { Request } from 'express';

type FormLimits = Pick<Config, 'maxUploadBytes' | 'maxFormFields' | 'maxFormFieldBytes'>;

const MAX_FILES = 1000;

/** A multipart form with its files. Disposing of it deletes the files. */
export interface Upload extends AsyncDisposable {
  /** At least one, in the order of the form. */
  readonly files: readonly StagedFile[];
  readonly fields: ReadonlyMap<string, string>;
  /** Whether the lines of its file are items, whatever they look like. */
  readonly areItems: boolean;
}

/**
 * Large files go to the staging folder while they arrive, and are deleted on any error. All bytes are bounded together.
 *
 * @throws RequestError `unsupported_media_type`, `invalid_request`, `upload_too_large`, `unavailable` (the disk has no room)
 */
export async function receiveUpload(
  request: Request,
  staging: Staging,
  limits: FormLimits,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Upload> {
  checkMediaType(request, ['multipart/form-data']);
  const parts = (): AsyncIterable<FormPart> => formParts(request, limits, signal);
  return await receiveParts(request, staging, limits, names, { parts, maxBytes: maxFormBytes(limits) });
}

export const LINES_TYPES = ['application/jsonl', 'application/x-ndjson', 'application/x-jsonlines'] as const;

/** Receives a body of JSON Lines like a form with one file, or else a form. */
export const receiveLinesOrUpload: typeof receiveUpload = async (request, staging, limits, names, signal) => {
  if (!request.is([...LINES_TYPES])) {
    checkMediaType(request, ['multipart/form-data', ...LINES_TYPES]);
    return await receiveUpload(request, staging, limits, names, signal);
  }
  async function* parts(): AsyncGenerator<FormPart> {
    yield { kind: 'file', name: 'file', fileName: 'items.jsonl', content: bodyChunks(request, signal) };
  }
  const maxBytes = limits.maxUploadBytes;
  const received = await receiveParts(request, staging, limits, names, { parts, maxBytes });
  // What a form would say of such a body.
  return { ...received, fields: new Map([['format', 'jsonl']]), areItems: true };
};

async function receiveParts(
  request: Request,
  staging: Staging,
  limits: FormLimits,
  names: readonly string[],
  { parts, maxBytes }: { readonly parts: () => AsyncIterable<FormPart>; readonly maxBytes: number },
): Promise<Upload> {
  const declaredBytes = Number(request.get('content-length') ?? 0);
  if (declaredBytes > maxBytes) throw tooLarge(limits);
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(new UploadStage(staging));
  const fields = new Map<string, string>();
  const files: StagedFile[] = [];
  let totalBytes = 0;
  async function* counted(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      totalBytes += chunk.byteLength;
      if (totalBytes > limits.maxUploadBytes) throw tooLarge(limits);
      yield chunk;
    }
  }
  for await (const part of parts()) {
    if (part.kind === 'field') {
      fields.set(part.name, fieldValue(part, names, fields, limits));
      continue;
    }
    const { name, fileName, content } = part;
    if (name !== 'file') {
      throw invalidRequest(
        name,
        `Unexpected file field ${JSON.stringify(name.slice(0, 100))}; expected "file".`,
      );
    }
    const facts = { declaredBytes: Math.max(0, declaredBytes - totalBytes), ownsChunks: true };
    files.push(await stage.add(fileName, counted(content), facts));
  }
  if (files.length === 0) throw invalidRequest('file', 'The form must have a file.');
  const held = stack.move();
  return { files, fields, areItems: false, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

function fieldValue(
  { name, value, isNameTruncated, isTruncated }: FormField,
  names: readonly string[],
  fields: ReadonlyMap<string, string>,
  { maxFormFieldBytes }: FormLimits,
): string {
  if (name === 'file')
    throw invalidRequest(name, 'The part "file" must be a file, got a text: give it a file name.');
  if (isNameTruncated || !names.includes(name)) {
    throw invalidRequest(name, `Unexpected form field ${JSON.stringify(name.slice(0, 100))}.`);
  }
  if (fields.has(name)) throw invalidRequest(name, `Duplicate form field "${name}".`);
  if (isTruncated)
    throw invalidRequest(name, `The field "${name}" must have at most ${maxFormFieldBytes} bytes.`);
  if (value === undefined) throw invalidRequest(name, `The field "${name}" has an unknown charset.`);
  return value;
}

type FormPart = FormField | FormFile;

interface FormField {
  readonly kind: 'field';
  readonly name: string;
  /** Undefined when the charset of the field is unknown. */
  readonly value: string | undefined;
  readonly isNameTruncated: boolean;
  readonly isTruncated: boolean;
}

interface FormFile {
  readonly kind: 'file';
  readonly name: string;
  /** Without any folder; empty when the client gave none. */
  readonly fileName: string;
  readonly content: AsyncIterable<Buffer>;
}

/** The parts of a form as they arrive. When the loop over them ends early, the response discards the rest of the form. */
function formParts(request: Request, limits: FormLimits, signal: AbortSignal): AsyncIterable<FormPart> {
  signal.throwIfAborted();
  const form = openForm(request, limits);
  let file: Readable | undefined;
  const parts = new Readable({
    objectMode: true,
    read: () => undefined,
    destroy: (error, done) => {
      signal.removeEventListener('abort', onAbort);
      request.off('data', onData).unpipe(form);
      file?.destroy(error ?? new Error('The rest of the form is not read.'));
      form.destroy();
      done(error);
    },
  });
  const fail = (error: Error): void => void parts.destroy(error);
  const onAbort = (): void => fail(signal.reason);
  // Counts also the bytes before, between and after the parts, which the parser ignores.
  let arrivedBytes = 0;
  let fileCount = 0;
  const { maxFormFields } = limits;
  const delimiters = new DelimiterCounter(request.get('content-type') ?? '');
  const onData = (chunk: Buffer): void => {
    arrivedBytes += chunk.byteLength;
    delimiters.add(chunk);
    if (arrivedBytes > maxFormBytes(limits, fileCount)) fail(tooLarge(limits));
    // The last one ends the form, or begins a part whose head is still to come.
    else if (delimiters.count > maxFormFields + fileCount + 1) fail(tooManyParts(limits));
  };

  onFields(form, limits, (field) => parts.push(field), fail);
  form.on('file', (name, stream, info) => {
    fileCount += 1;
    // Without a listener, the error of a file that is not read would end the process.
    stream.on('error', () => undefined);
    // The parser finishes its current chunk, and would leave this file without an end.
    if (parts.destroyed) return void stream.resume();
    file = stream;
    const content = fileContent(stream, () => parts.errored);
    parts.push({
      kind: 'file',
      name: name ?? '',
      fileName: info.filename ?? '',
      content,
    } satisfies FormFile);
  });
  form.on('close', () => parts.push(null));
  signal.addEventListener('abort', onAbort, { once: true });
  // Counted after the form has seen it, so that its files are known.
  request.pipe(form);
  request.on('data', onData);
  return parts;
}

/** What a form has around a file of several. */
const MAX_FILE_HEAD_BYTES = 512;

/** The form around the files has its own limit; a body beyond both is too large. */
const maxFormBytes = (limits: FormLimits, files: number = MAX_FILES): number =>
  limits.maxUploadBytes +
  (limits.maxFormFields + 2) * (limits.maxFormFieldBytes + 4096) +
  files * MAX_FILE_HEAD_BYTES;

const tooLarge = (limits: FormLimits): RequestError =>
  new RequestError('upload_too_large', `The file must have at most ${limits.maxUploadBytes} bytes.`);

const tooManyParts = (
  { maxFormFields }: FormLimits,
  what: string = 'parts besides its files',
): RequestError => invalidRequest('', `The form must have at most ${maxFormFields} ${what}.`);

const tooManyFiles = (): RequestError =>
  invalidRequest('file', `The form must have at most ${MAX_FILES} files.`);

const unreadable = (error: unknown): RequestError =>
  invalidRequest('', `Cannot read the form: ${(error as Error).message}.`, error);

/** The bytes of a file. Its stream fails with the form; what failed first is the error to report. */
async function* fileContent(stream: Readable, failure: () => Error | null): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw failure() ?? unreadable(error);
  }
}

function openForm(request: Request, limits: FormLimits): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: {
        fields: limits.maxFormFields,
        // a field of this size counts as truncated
        fieldSize: limits.maxFormFieldBytes + 1,
        fieldNameSize: 100,
        files: MAX_FILES,
        // reported when the part with this number ends
        parts: limits.maxFormFields + MAX_FILES + 1,
        headerPairs: 100,
      },
    });
  } catch (error) {
    throw unreadable(error);
  }
}

function onFields(
  form: busboy.Busboy,
  limits: FormLimits,
  take: (field: FormField) => void,
  fail: (error: RequestError) => void,
): void {
  form.on('field', (name: string | undefined, value, info) => {
    const { nameTruncated: isNameTruncated, valueTruncated: isTruncated } = info;
    const text = typeof value === 'string' ? value : undefined;
    take({ kind: 'field', name: name ?? '', value: text, isNameTruncated, isTruncated });
  });
  form.on('fieldsLimit', () => fail(tooManyParts(limits, 'fields')));
  form.on('filesLimit', () => fail(tooManyFiles()));
  form.on('partsLimit', () => fail(tooManyParts(limits)));
  form.on('error', (error) => fail(unreadable(error)));
}

/** Counts the delimiters of a multipart body while it arrives, after the first one. Parts without a name count too. */
class DelimiterCounter {
  count = 0;
  readonly #delimiter: Buffer;
  /** The end of the bytes so far, which may be the start of a delimiter. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(contentType: string) {
    const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^;]*))/i.exec(contentType) ?? [];
    this.#delimiter = Buffer.from(`\r\n--${(quoted ?? plain ?? '').trim()}`);
  }

  add(chunk: Buffer): void {
    const delimiter = this.#delimiter;
    const seam = Buffer.concat([this.#rest, chunk.subarray(0, delimiter.length - 1)]);
    this.#countIn(seam);
    this.#countIn(chunk);
    const end = chunk.length < delimiter.length ? seam : chunk;
    this.#rest = Buffer.from(end.subarray(Math.max(0, end.length - delimiter.length + 1)));
  }

  #countIn(bytes: Buffer): void {
    const delimiter = this.#delimiter;
    for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
      this.count += 1;
    }
  }
}
