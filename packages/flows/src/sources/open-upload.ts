import { stat, writeFile } from 'node:fs/promises';
import { convertTool, recogniseTool, type Tool } from '@svc/formats';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import { PackageError, type PackageLimits } from '@svc/pkg-format';
import { type Archive, bytesSource, openArchive, readPackage } from '@svc/pkg-format/internal';
import { convertLegacyFile, openFileSource } from '@svc/pkg-format/node';
import type { FormatHints } from '@svc/tabular';
import { chooseContents, kindOf, limitContent, tableFiles, unpackFiles } from '@svc/tabular/internal';
import type { ImportSource } from '../import-dataset.ts';
import type { FileRequest } from '../requests.ts';
import { type FilesSourceOptions, filesSource } from './files-source.ts';
import { nameOfFile, type PackageSourceOptions, packageSource } from './package-source.ts';
import { mappingRequired, recognise, type UploadedFile, type UploadedTables } from './recognise.ts';
import { roomInSteps, type StagedFile, type Staging, UploadStage } from './stage-content.ts';
import { toUploadError } from './upload-error.ts';

/** What an upload is, ready to be read. */
export type UploadContent =
  | {
      readonly kind: 'package';
      readonly file: UploadedFile;
      readonly archive: Archive;
      /** The tool whose files were converted; null for a package. */
      readonly tool: Tool | null;
    }
  | { readonly kind: 'legacy_package' }
  | ({ readonly kind: 'items' | 'table' } & UploadedTables);

/** Disposing of it closes and deletes what was made to read it. */
export type OpenUpload = UploadContent & AsyncDisposable & { readonly ignoredFiles: readonly string[] };

/** How an upload is to be read. */
export interface OpenUploadRequest {
  readonly name: string | undefined;
  readonly mapping: Mapping | null;
  readonly hints: FormatHints;
  /** Whether to convert an older archive. */
  readonly convert: boolean;
}

export interface OpenUploadDeps {
  readonly staging: Staging;
  readonly limits: Partial<PackageLimits> & Pick<PackageLimits, 'maxTotalBytes'>;
}

/**
 * Finds out what was uploaded, and unpacks or converts it where it must be.
 *
 * @throws PackageError, UploadError, JsonlError; the error of `staging` where the disk has no room
 */
export async function openUpload(
  staged: readonly StagedFile[],
  request: OpenUploadRequest,
  { staging, limits }: OpenUploadDeps,
  signal: AbortSignal,
): Promise<OpenUpload> {
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(new UploadStage(staging));
  const opened = (content: UploadContent, ignoredFiles: readonly string[] = []): OpenUpload => {
    const held = stack.move();
    return { ...content, ignoredFiles, [Symbol.asyncDispose]: () => held.disposeAsync() };
  };

  const files = await openFiles(staged, stack, limits);
  const tool = isPlain(request) ? await recogniseTool(files) : null;
  if (tool !== null) {
    const staged = await convertFiles(tool, files, request, stage, limits, signal);
    return opened({ ...(await openConverted([staged], stack, limits)), tool });
  }
  const recognised = await recognise(files, request.mapping, limits, signal);
  if (recognised.kind === 'files') {
    try {
      const contents = await chooseContents(recognised.files, request.hints, signal);
      const unpacked: StagedFile[] = [];
      for await (const { name, content } of unpackFiles(contents, limits.maxTotalBytes, signal)) {
        unpacked.push(await stage.add(name, content));
      }
      const sentBytes = staged.reduce((sum, { bytes }) => sum + bytes, 0);
      const unpackedFiles = await openFiles(unpacked, stack, limits, sentBytes);
      const tables = await tableFiles(contents, unpackedFiles, request.hints, signal);
      const kind = kindOf(tables, request.mapping);
      return opened({ kind, files: tables, sentBytes }, contents.ignored);
    } catch (error) {
      throw toUploadError(error);
    }
  }
  const { kind, file, archive } = recognised;
  if (kind === 'package') return opened({ kind, file, archive, tool: null });
  if (!request.convert) return opened({ kind });
  const converted = await convert(staged, request, stage, limits, signal);
  return opened({ ...(await openConverted(converted, stack, limits)), tool: null });
}

/** Whether nothing says how files are to be read. */
const isPlain = ({ mapping, hints }: OpenUploadRequest): boolean =>
  mapping === null && hints.format === undefined;

/** Opens a package that was made of an upload. */
async function openConverted(
  staged: readonly StagedFile[],
  stack: AsyncDisposableStack,
  limits: Partial<PackageLimits>,
): Promise<Omit<Extract<UploadContent, { readonly kind: 'package' }>, 'tool'>> {
  const [file] = await openFiles(staged, stack, limits);
  if (file === undefined) throw new Error('There is no archive to convert.');
  const archive = await openArchive(file.source, limits, () => Promise.resolve());
  return { kind: 'package', file, archive };
}

/** Converts the files of another tool into a package, whose hash stays that of the first of them. */
async function convertFiles(
  tool: Tool,
  files: readonly UploadedFile[],
  { name }: OpenUploadRequest,
  stage: UploadStage,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<StagedFile> {
  const output = stage.create();
  const [{ name: fileName, sha256 } = { name: '', sha256: '' }] = files;
  const makeRoom = roomInSteps(output, 0);
  await convertTool(tool, files, { output: output.path, name, limits, signal, makeRoom });
  const { size: bytes } = await stat(output.path);
  return { fileName, sha256, path: output.path, content: null, bytes };
}

/** @param sentBytes of the archive that the files come from */
async function openFiles(
  staged: readonly StagedFile[],
  stack: AsyncDisposableStack,
  limits: Partial<PackageLimits>,
  sentBytes?: number,
): Promise<UploadedFile[]> {
  const files: UploadedFile[] = [];
  for (const { path, content, fileName: name, sha256 } of staged) {
    if (content !== null) {
      files.push({ name, sha256, source: limitContent(bytesSource(content), limits, sentBytes) });
      continue;
    }
    const source = await openFileSource(path);
    stack.defer(() => source.close());
    files.push({ name, sha256, source: limitContent(source, limits, sentBytes) });
  }
  return files;
}

/** Converts an older archive into a package, whose hash stays that of what was sent. */
async function convert(
  [archive]: readonly StagedFile[],
  { name }: OpenUploadRequest,
  stage: UploadStage,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<StagedFile[]> {
  if (archive === undefined) return [];
  const input = archive.content === null ? archive.path : await writeSmall(archive.content, stage);
  const output = stage.create();
  await output.makeRoom(archive.bytes);
  await convertLegacyFile(input, {
    output: output.path,
    name: name ?? undefined,
    fallbackName: nameOfFile(archive.fileName),
    limits,
    signal,
    makeRoom: roomInSteps(output, archive.bytes),
  });
  const { size: bytes } = await stat(output.path);
  return [{ ...archive, path: output.path, content: null, bytes }];
}

/** Writes a file that is in memory to the disk. */
async function writeSmall(content: Uint8Array, stage: UploadStage): Promise<string> {
  const file = stage.create();
  await file.makeRoom(content.byteLength);
  await writeFile(file.path, content, { flag: 'wx', mode: 0o600 });
  return file.path;
}

/**
 * The source of an upload.
 *
 * @throws PackageError `package_no_sections` for an older archive; UploadError `mapping_required` for tables without one
 */
export async function uploadSource(
  upload: UploadContent,
  request: FileRequest,
  options: FilesSourceOptions & PackageSourceOptions,
  signal: AbortSignal,
): Promise<ImportSource> {
  if (upload.kind === 'legacy_package') throw legacyError();
  if (upload.kind === 'package') {
    const { name: fileName, source } = upload.file;
    const { name, description } = request;
    const wanted = { name, description, fileName };
    return packageSource(source.byteLength, () => readPackage(upload.archive), wanted, options);
  }
  if (upload.kind === 'table' && request.mapping === null) throw await mappingRequired(upload.files, signal);
  return filesSource(upload, request, options);
}

function legacyError(): PackageError {
  const message =
    'The archive has no sections/*.jsonl file, but it is an older archive: convert it with "svc-pkg convert", or send convert=true to convert it on upload; if its files are tables, send a mapping.';
  return new PackageError('package_no_sections', message);
}
