import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { RequestError } from '@svc/runtime';
import type { Request } from 'express';
import { type FormField, type FormLimits, formParts, invalid, maxFormBytes, tooLarge } from './form-parts.ts';
import type { StagingFile, StagingFolder } from './staging-folder.ts';

/** A multipart form whose file is in the staging folder. Disposing of it deletes the file. */
export interface Upload extends AsyncDisposable {
  readonly path: string;
  readonly bytes: number;
  /** The file name that the client gave, without any folder; empty when it gave none. */
  readonly fileName: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** A file of unknown size reserves room in steps of this size. */
const ROOM_STEP_BYTES = 1024 * 1024;

/**
 * Receives a multipart form with one file (RFC 7578), its parts in any order: the file goes to the staging folder
 * while it arrives, as fast as the disk takes it, and is deleted on any error.
 *
 * @param names the fields that the form may have; `file` is the file
 * @throws RequestError `unsupported_media_type`, `invalid_request` (parts missing, duplicate, unknown or too large),
 * `upload_too_large` (counted while it streams), `unavailable` (the disk has no room for it)
 */
export async function receiveUpload(
  request: Request,
  staging: StagingFolder,
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
  const file = staging.create();
  try {
    await file.makeRoom(declaredBytes);
    const fields = new Map<string, string>();
    let received: { readonly bytes: number; readonly fileName: string } | undefined;
    for await (const part of formParts(request, limits, signal)) {
      if (part.kind === 'field') {
        fields.set(part.name, fieldValue(part, names, fields, limits));
        continue;
      }
      const { name, fileName, content } = part;
      if (name !== 'file') {
        throw invalid(name, `Unexpected file field ${JSON.stringify(name.slice(0, 100))}; expected "file".`);
      }
      received = { fileName, bytes: await writeFile(file, content, declaredBytes, limits) };
    }
    if (received === undefined) throw invalid('file', 'The form must have a file.');
    return { path: file.path, ...received, fields, [Symbol.asyncDispose]: file[Symbol.asyncDispose] };
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

function fieldValue(
  { name, value, isNameTruncated, isTruncated }: FormField,
  names: readonly string[],
  fields: ReadonlyMap<string, string>,
  { maxFormFieldBytes }: FormLimits,
): string {
  if (isNameTruncated || !names.includes(name)) {
    throw invalid(name, `Unexpected form field ${JSON.stringify(name.slice(0, 100))}.`);
  }
  if (fields.has(name)) throw invalid(name, `Duplicate form field "${name}".`);
  if (isTruncated) throw invalid(name, `The field "${name}" must have at most ${maxFormFieldBytes} bytes.`);
  if (value === undefined) throw invalid(name, `The field "${name}" has an unknown charset.`);
  return value;
}

/**
 * Writes the file into the staging folder; ends after the last write, also when it fails.
 *
 * @returns its size
 */
async function writeFile(
  file: StagingFile,
  content: AsyncIterable<Buffer>,
  declaredBytes: number,
  limits: FormLimits,
): Promise<number> {
  let bytes = 0;
  let roomBytes = declaredBytes;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      if (bytes > limits.maxUploadBytes) throw tooLarge(limits);
      if (bytes > roomBytes) {
        roomBytes = bytes + ROOM_STEP_BYTES;
        await file.makeRoom(roomBytes);
      }
      yield chunk;
    }
  }
  await pipeline(counted, createWriteStream(file.path, { mode: 0o600, flags: 'wx' }));
  return bytes;
}
