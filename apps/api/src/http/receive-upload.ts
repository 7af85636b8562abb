import { createHash, hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { RequestError } from '@svc/runtime';
import type { Request } from 'express';
import { type FormField, type FormLimits, formParts, invalid, maxFormBytes, tooLarge } from './form-parts.ts';
import { smallFormParts } from './small-form.ts';
import type { StagingFile, StagingFolder } from './staging-folder.ts';

/** A file of an upload: in the staging folder, or in memory where the form is small. */
export type StagedFile = FileDigest &
  FileLocation & {
    /** The file name that the client gave, without any folder; empty when it gave none. */
    readonly fileName: string;
  };

/** Where the bytes of a file are. */
export type FileLocation =
  | { readonly path: string; readonly content: null }
  | { readonly path: null; readonly content: Uint8Array };

interface FileDigest {
  readonly bytes: number;
  /** Hex digits. */
  readonly sha256: string;
}

/** A multipart form with its files. Disposing of it deletes the files. */
export interface Upload extends AsyncDisposable {
  /** At least one, in the order of the form. */
  readonly files: readonly StagedFile[];
  readonly fields: ReadonlyMap<string, string>;
}

/** What may wait for the disk while the next bytes arrive; it is written at once. */
const WRITE_BEHIND_BYTES = 1024 * 1024;
/** The files of a form of at most so many bytes stay in memory: to write, read and delete them would take longest. */
const MEMORY_BYTES = 64 * 1024;
/** A file of unknown size reserves room in steps of this size. */
const ROOM_STEP_BYTES = 1024 * 1024;

/**
 * Receives a multipart form with files (RFC 7578), its parts in any order: the files go to the staging folder while they
 * arrive, as fast as the disk takes them, and are deleted on any error. Their bytes are bounded together.
 *
 * @param names the fields that the form may have; `file` are the files
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
  await using stack = new AsyncDisposableStack();
  const fields = new Map<string, string>();
  const files: StagedFile[] = [];
  let totalBytes = 0;
  const onBytes = (bytes: number): void => {
    totalBytes += bytes;
    if (totalBytes > limits.maxUploadBytes) throw tooLarge(limits);
  };
  // A body has no more bytes than it declares.
  const isSmall = declaredBytes > 0 && declaredBytes <= MEMORY_BYTES;
  const parts = isSmall ? await smallFormParts(request, limits, signal) : formParts(request, limits, signal);
  for await (const part of parts) {
    if (part.kind === 'field') {
      fields.set(part.name, fieldValue(part, names, fields, limits));
      continue;
    }
    const { name, fileName, content } = part;
    if (name !== 'file') {
      throw invalid(name, `Unexpected file field ${JSON.stringify(name.slice(0, 100))}; expected "file".`);
    }
    if (Buffer.isBuffer(content)) {
      const bytes = content.byteLength;
      onBytes(bytes);
      files.push({ path: null, content, fileName, bytes, sha256: hash('sha256', content, 'hex') });
      continue;
    }
    const file = stack.use(staging.create());
    const facts = await stageFile(file, content, {
      declaredBytes: Math.max(0, declaredBytes - totalBytes),
      onBytes,
    });
    files.push({ path: file.path, content: null, fileName, ...facts });
  }
  if (files.length === 0) throw invalid('file', 'The form must have a file.');
  const held = stack.move();
  return { files, fields, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

function fieldValue(
  { name, value, isNameTruncated, isTruncated }: FormField,
  names: readonly string[],
  fields: ReadonlyMap<string, string>,
  { maxFormFieldBytes }: FormLimits,
): string {
  if (name === 'file')
    throw invalid(name, 'The part "file" must be a file, got a text: give it a file name.');
  if (isNameTruncated || !names.includes(name)) {
    throw invalid(name, `Unexpected form field ${JSON.stringify(name.slice(0, 100))}.`);
  }
  if (fields.has(name)) throw invalid(name, `Duplicate form field "${name}".`);
  if (isTruncated) throw invalid(name, `The field "${name}" must have at most ${maxFormFieldBytes} bytes.`);
  if (value === undefined) throw invalid(name, `The field "${name}" has an unknown charset.`);
  return value;
}

/**
 * Writes a file into the staging folder; ends after the last write, also when it fails.
 *
 * @param declaredBytes of the form from here on; 0 if unknown. They are reserved at once
 * @param onBytes gets the size of every chunk, and throws when there are too many bytes
 * @returns its size and hash
 */
export async function stageFile(
  file: StagingFile,
  content: AsyncIterable<Uint8Array>,
  { declaredBytes, onBytes }: { readonly declaredBytes: number; readonly onBytes: (bytes: number) => void },
): Promise<FileDigest> {
  const sha256 = createHash('sha256');
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      onBytes(chunk.byteLength);
      sha256.update(chunk);
      yield chunk;
    }
  }
  await file.makeRoom(declaredBytes);
  const makeRoom = roomInSteps(file, declaredBytes);
  async function* withRoom(): AsyncGenerator<Uint8Array> {
    for await (const chunk of counted()) {
      await makeRoom(bytes);
      yield chunk;
    }
  }
  // Open before the first byte: a file that a failed stream opens later would outlive its deletion.
  await using handle = await open(file.path, 'wx', 0o600);
  await pipeline(withRoom, handle.createWriteStream({ highWaterMark: WRITE_BEHIND_BYTES }));
  return { bytes, sha256: sha256.digest('hex') };
}

/**
 * Makes room for a file of unknown size while it grows.
 *
 * @param roomBytes what it has room for
 * @throws RequestError `unavailable`
 */
export function roomInSteps(
  file: Pick<StagingFile, 'makeRoom'>,
  roomBytes: number,
): (bytes: number) => Promise<void> {
  let room = roomBytes;
  return async (bytes) => {
    if (bytes <= room) return;
    room = bytes + ROOM_STEP_BYTES;
    await file.makeRoom(room);
  };
}
