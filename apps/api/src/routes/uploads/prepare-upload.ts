import { stat, writeFile } from 'node:fs/promises';
import {
  nameOfFile,
  type Recognised,
  recogniseUpload,
  UploadError,
  type UploadedFile,
  unpackFiles,
} from '@svc/flows';
import { PackageError, type PackageReader } from '@svc/pkg-format';
import { bytesSource, readPackage } from '@svc/pkg-format/internal';
import { convertLegacyFile, openFileSource } from '@svc/pkg-format/node';
import { type Config, packageLimits } from '@svc/runtime';
import { roomInSteps, type StagedFile, stageFile } from '../../http/receive-upload.ts';
import type { StagingFolder } from '../../http/staging-folder.ts';
import type { UploadForm } from './upload-form.ts';

/** An upload whose files can be read as they are. Disposing of it closes and deletes what was made for that. */
export interface PreparedUpload extends AsyncDisposable {
  readonly recognised: Exclude<Recognised, { readonly kind: 'packed' }>;
  readonly staged: readonly StagedFile[];
  readonly files: readonly UploadedFile[];
}

interface PrepareDeps {
  readonly config: Config;
  readonly staging: StagingFolder;
}

/**
 * Finds out what was uploaded, and unpacks or converts it where it must be.
 *
 * @throws PackageError, UploadError, JsonlError; RequestError `unavailable` where the disk has no room
 */
export async function prepareUpload(
  staged: readonly StagedFile[],
  form: UploadForm,
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<PreparedUpload> {
  await using stack = new AsyncDisposableStack();
  const limits = packageLimits(deps.config);
  let files = await openFiles(staged, stack);
  let current = staged;
  const request = { ...form, files: [] };
  let recognised = await recogniseUpload(files, request, limits, signal);
  if (recognised.kind === 'packed') {
    current = await unpack(files, deps, stack, signal);
    files = await openFiles(current, stack);
    recognised = await recogniseUpload(files, request, limits, signal);
    if (!('files' in recognised)) throw packedTwice(current);
  }
  if (recognised.kind === 'legacy_package' && form.convert) {
    current = await convert(staged, form, deps, stack, signal);
    files = await openFiles(current, stack);
    recognised = await recogniseUpload(files, request, limits, signal);
    if (recognised.kind === 'packed') throw packedTwice(current);
  }
  const held = stack.move();
  return {
    recognised,
    staged: current,
    files,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function openFiles(
  staged: readonly StagedFile[],
  stack: AsyncDisposableStack,
): Promise<UploadedFile[]> {
  const files: UploadedFile[] = [];
  for (const { path, content, fileName } of staged) {
    if (content !== null) {
      files.push({ name: fileName, source: bytesSource(content) });
      continue;
    }
    const source = await openFileSource(path);
    stack.defer(() => source.close());
    files.push({ name: fileName, source });
  }
  return files;
}

/** Writes what is packed in the files into the staging folder. */
async function unpack(
  files: readonly UploadedFile[],
  { config, staging }: PrepareDeps,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<StagedFile[]> {
  const unpacked: StagedFile[] = [];
  for await (const { name, content } of unpackFiles(files, packageLimits(config), signal)) {
    const file = stack.use(staging.create());
    const facts = await stageFile(file, content, { declaredBytes: 0, onBytes: () => undefined });
    unpacked.push({ path: file.path, content: null, fileName: name, ...facts });
  }
  return unpacked;
}

/** Converts an older archive into a package, whose hash stays that of what was sent. */
async function convert(
  staged: readonly StagedFile[],
  { name }: UploadForm,
  { config, staging }: PrepareDeps,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<StagedFile[]> {
  const [archive] = staged;
  if (archive === undefined) throw new Error('There is no archive to convert.');
  const input = archive.content === null ? archive.path : await writeSmall(archive.content, staging, stack);
  const output = stack.use(staging.create());
  await output.makeRoom(archive.bytes);
  await convertLegacyFile(input, {
    output: output.path,
    name: name ?? undefined,
    fallbackName: nameOfFile(archive.fileName),
    limits: packageLimits(config),
    signal,
    makeRoom: roomInSteps(output, archive.bytes),
  });
  const { size: bytes } = await stat(output.path);
  return [{ ...archive, path: output.path, content: null, bytes }];
}

/** Writes a file that is in memory into the staging folder. */
async function writeSmall(
  content: Uint8Array,
  staging: StagingFolder,
  stack: AsyncDisposableStack,
): Promise<string> {
  const file = stack.use(staging.create());
  await file.makeRoom(content.byteLength);
  await writeFile(file.path, content, { flag: 'wx', mode: 0o600 });
  return file.path;
}

/**
 * Opens the package of an upload, whose archive is checked already. It counts what it reads: open it once.
 *
 * @throws PackageError as `openPackage`
 */
export function openPreparedPackage({ recognised }: PreparedUpload): Promise<PackageReader> {
  if (recognised.kind !== 'package') throw legacyError();
  return readPackage(recognised.archive);
}

function packedTwice([file]: readonly StagedFile[]): UploadError {
  const message = 'Cannot read the file: it is an archive within another one.';
  return new UploadError('unsupported_file', message, { file: file?.fileName ?? '' });
}

/** The error for an older archive. */
export function legacyError(): PackageError {
  const message =
    'The archive has no sections/*.jsonl file, but it is an older archive: convert it with "svc-pkg convert", or send convert=true to convert it on upload; if its files are tables, send a mapping.';
  return new PackageError('package_no_sections', message);
}
