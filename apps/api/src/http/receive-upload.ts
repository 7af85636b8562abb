import { on } from 'node:events';
import { type StagedFile, type Staging, UploadStage } from '@svc/flows';
import { invalidRequest, RequestError } from '@svc/runtime';
import type { Request } from 'express';
import { type FormField, type FormLimits, formParts, maxFormBytes, tooLarge } from './form-parts.ts';

/** A multipart form with its files. Disposing of it deletes the files. */
export interface Upload extends AsyncDisposable {
  /** At least one, in the order of the form. */
  readonly files: readonly StagedFile[];
  readonly fields: ReadonlyMap<string, string>;
  /** Whether the lines of its file are items, whatever they look like. */
  readonly areItems: boolean;
}

/**
 * Receives a multipart form with files (RFC 7578), its parts in any order: large files go to the staging folder while
 * they arrive, as fast as the disk takes them, and are deleted on any error. Their bytes are bounded together.
 *
 * @param names the fields that the form may have; `file` are the files
 * @throws RequestError `unsupported_media_type`, `invalid_request` (parts missing, duplicate, unknown or too large),
 * `upload_too_large` (counted while it streams), `unavailable` (the disk has no room for it)
 */
export async function receiveUpload(
  request: Request,
  staging: Staging,
  limits: FormLimits,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Upload> {
  if (!request.is('multipart/form-data')) {
    const type = JSON.stringify(request.get('content-type') ?? 'nothing');
    throw new RequestError('unsupported_media_type', `The body must be multipart/form-data, got ${type}.`);
  }
  const declaredBytes = Number(request.get('content-length') ?? 0);
  if (declaredBytes > maxFormBytes(limits)) throw tooLarge(limits);
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(new UploadStage(staging));
  const fields = new Map<string, string>();
  const files: StagedFile[] = [];
  let totalBytes = 0;
  const onBytes = (bytes: number): void => {
    totalBytes += bytes;
    if (totalBytes > limits.maxUploadBytes) throw tooLarge(limits);
  };
  for await (const part of formParts(request, limits, signal)) {
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
    files.push(await stage.add(fileName, counted(content, onBytes), facts));
  }
  if (files.length === 0) throw invalidRequest('file', 'The form must have a file.');
  const held = stack.move();
  return { files, fields, areItems: false, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Media types of JSON Lines. */
export const LINES_TYPES = ['application/jsonl', 'application/x-ndjson', 'application/x-jsonlines'] as const;

/**
 * Receives a body of JSON Lines like a form with one file, or else a form.
 *
 * @throws as {@link receiveUpload}
 */
export const receiveLinesOrUpload: typeof receiveUpload = async (request, staging, limits, names, signal) => {
  if (!request.is([...LINES_TYPES])) return await receiveUpload(request, staging, limits, names, signal);
  const declaredBytes = Number(request.get('content-length') ?? 0);
  if (declaredBytes > limits.maxUploadBytes) throw tooLarge(limits);
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(new UploadStage(staging));
  let totalBytes = 0;
  const content = counted(bodyOf(request, signal), (bytes) => {
    totalBytes += bytes;
    if (totalBytes > limits.maxUploadBytes) throw tooLarge(limits);
  });
  const file = await stage.add('items.jsonl', content, { declaredBytes });
  const held = stack.move();
  return {
    files: [file],
    fields: LINES_FIELDS,
    areItems: true,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
};

/** What a form would say of such a body. */
const LINES_FIELDS: Upload['fields'] = new Map([['format', 'jsonl']]);

async function* bodyOf(request: Request, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const [chunk] of on(request.resume(), 'data', { signal, close: ['end'] })) yield chunk;
}

async function* counted(
  content: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    onBytes(chunk.byteLength);
    yield chunk;
  }
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
