import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { recogniseTool, type Tool } from '@svc/formats';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import {
  type Archive,
  openArchive,
  PackageError,
  type PackageLimits,
  readPackage,
  recogniseArchive,
} from '@svc/pkg-format';
import { convertLegacyFile } from '@svc/pkg-format/node';
import { type FormatHints, openFileTable, toMappable } from '@svc/tabular';
import { chooseTables, kindOf, limitContent, type PackedFile, sourceOf } from '@svc/tabular/datasets';
import type { ImportSource } from '../import-dataset.ts';
import type { FileRequest } from '../requests.ts';
import { openStaged, roomInSteps, type StagedFile, type Staging, UploadStage } from '../stage-content.ts';
import type { ToolConverter } from '../threads/tool-converter.ts';
import { type FilesSourceOptions, filesSource } from './files-source.ts';
import { nameOfFile, type PackageSourceOptions, packageSource } from './package-source.ts';
import {
  type TableFile,
  toUploadError,
  UploadError,
  type UploadedFile,
  type UploadedTables,
} from './uploaded-file.ts';

interface OpenPackage {
  readonly file: UploadedFile;
  readonly archive: Archive;
}

export type UploadContent =
  | (OpenPackage & {
      readonly kind: 'package';
      /** The tool whose files were converted; null for a package. */
      readonly tool: Tool | null;
      /** The packages of the other runs, for files with several. */
      readonly further: readonly OpenPackage[];
    })
  | { readonly kind: 'legacy_package' }
  | ({ readonly kind: 'items' | 'table' } & UploadedTables);

/** Disposing of it closes and deletes what was made to read it. */
export type OpenUpload = UploadContent & AsyncDisposable;

export interface OpenUploadRequest {
  readonly name: string | undefined;
  readonly mapping: Mapping | null;
  readonly hints: FormatHints;
  readonly convert: boolean;
}

export interface OpenUploadDeps {
  readonly staging: Staging;
  readonly converter: ToolConverter;
  readonly limits: Partial<PackageLimits> & Pick<PackageLimits, 'maxTotalBytes'>;
}

/**
 * Finds out what was uploaded, and unpacks or converts it if necessary.
 *
 * @throws PackageError, UploadError, JsonlError; the error of `staging` if the disk has no room
 */
export async function openUpload(
  staged: readonly StagedFile[],
  request: OpenUploadRequest,
  { staging, limits, converter }: OpenUploadDeps,
  signal: AbortSignal,
): Promise<OpenUpload> {
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(new UploadStage(staging));
  const opened = (content: UploadContent): OpenUpload => {
    const held = stack.move();
    return { ...content, [Symbol.asyncDispose]: () => held.disposeAsync() };
  };

  const files = await openFiles(staged, stack);
  const tool = isPlain(request) ? await recogniseTool(files) : null;
  if (tool !== null) {
    const converted = await convertFiles(tool, staged, request, stage, { converter, limits }, signal);
    const packages: OpenPackage[] = [];
    for (const one of converted) packages.push(await openConverted(one, stack, limits));
    const [first, ...further] = packages;
    if (first === undefined) throw new Error('The files of a tool become at least one package.');
    return opened({ kind: 'package', ...first, tool, further });
  }
  const recognised = await recognise(files, request.mapping, limits, signal);
  if (recognised.kind === 'files') {
    try {
      const packed = recognised.files.map(({ file, archive }) => ({ file: limited(file, limits), archive }));
      const sentBytes = staged.reduce((sum, { bytes }) => sum + bytes, 0);
      const tables = await chooseTables(packed, {
        ...{ hints: request.hints, maxTotalBytes: limits.maxTotalBytes, signal },
        store: async ({ name, content }) =>
          limited(await openStaged(await stage.add(name, content), stack), limits, sentBytes),
      });
      return opened({ kind: kindOf(tables.files, request.mapping), ...tables, sentBytes });
    } catch (error) {
      throw toUploadError(error);
    }
  }
  const { kind, file, archive } = recognised;
  const [archiveFile] = staged;
  if (kind === 'package') return opened({ kind, file, archive, tool: null, further: [] });
  if (!request.convert || archiveFile === undefined) return opened({ kind });
  const converted = await convertArchive(archiveFile, request, stage, limits, signal);
  return opened({
    kind: 'package',
    ...(await openConverted(converted, stack, limits)),
    tool: null,
    further: [],
  });
}

/** Whether nothing says how files are to be read. */
const isPlain = ({ mapping, hints }: OpenUploadRequest): boolean =>
  mapping === null && hints.format === undefined;

async function openConverted(
  converted: StagedFile,
  stack: AsyncDisposableStack,
  limits: Partial<PackageLimits>,
): Promise<OpenPackage> {
  const file = await openStaged(converted, stack);
  const archive = await openArchive(file.source, limits, () => Promise.resolve());
  return { file, archive };
}

async function openFiles(staged: readonly StagedFile[], stack: AsyncDisposableStack) {
  const files: UploadedFile[] = [];
  for (const file of staged) files.push(await openStaged(file, stack));
  return files;
}

/** A file of rows, with the bytes that may come out of it. @param sentBytes of the archive that it comes from */
function limited(
  { source, ...file }: UploadedFile,
  limits: OpenUploadDeps['limits'],
  sentBytes?: number,
): UploadedFile {
  return { ...file, source: limitContent(source, limits, sentBytes) };
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
  if (upload.kind === 'package') return sourceOfPackage(upload, upload.further, request, options);
  if (upload.kind === 'table' && request.mapping === null) throw await mappingRequired(upload.files, signal);
  return filesSource(upload, request, options);
}

/** The sources of the other runs of an upload of another tool's files. */
export const furtherSources = (
  upload: UploadContent,
  request: FileRequest,
  options: PackageSourceOptions,
): readonly ImportSource[] =>
  upload.kind === 'package'
    ? upload.further.map((one) => sourceOfPackage(one, upload.further, request, options))
    : [];

/** @param further the other packages: with some, each has its own name */
function sourceOfPackage(
  { file: { name: fileName, source, sha256 }, archive }: OpenPackage,
  further: readonly OpenPackage[],
  { name, description }: FileRequest,
  options: PackageSourceOptions,
): ImportSource {
  const wanted = { name: further.length === 0 ? name : undefined, description, fileName };
  const bytes = source.byteLength;
  return packageSource({ bytes, sha256 }, () => readPackage(archive), wanted, options);
}

function legacyError(): PackageError {
  const message =
    'The archive has no sections/*.jsonl file, but it is an older archive: convert it with "svc-pkg convert", or send convert=true to convert it on upload; if its files are tables, send a mapping.';
  return new PackageError('package_no_sections', message);
}

/** What was uploaded, by its first bytes and the directories of its archives. */
type Recognised =
  | { readonly kind: 'package' | 'legacy_package'; readonly file: UploadedFile; readonly archive: Archive }
  | { readonly kind: 'files'; readonly files: readonly PackedFile<UploadedFile>[] };

/**
 * Finds out whether an upload is a package, an older archive, or files, perhaps with archives of files among them. With
 * a mapping, the files of an archive are tables, even if they could be items.
 */
async function recognise(
  files: readonly UploadedFile[],
  mapping: Mapping | null,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<Recognised> {
  const packed: PackedFile<UploadedFile>[] = [];
  const options = { limits, areTables: mapping !== null, signal };
  for (const file of files) {
    const found = await recogniseArchive(file.source, options).catch((error: unknown) => {
      if (!(error instanceof PackageError) || !OFFICE_NAME.test(file.name)) throw error;
      throw unsupported(file, 'it is a damaged Office document; save its table as CSV');
    });
    if (found === null) {
      packed.push({ file, archive: null });
      continue;
    }
    const { kind, archive } = found;
    if (kind === 'office_document') {
      throw unsupported(file, 'it is an Office document; save its table as CSV');
    }
    if (kind === 'files') packed.push({ file, archive });
    else if (files.length === 1) return { kind, file, archive };
    else throw unsupported(file, 'a package must be the only file');
  }
  return { kind: 'files', files: packed };
}

const OFFICE_NAME = /\.(?:docx|xlsx|pptx|od[tsp])$/i;

function unsupported({ name }: UploadedFile, problem: string): UploadError {
  return new UploadError('unsupported_file', `Cannot read the file: ${problem}.`, { file: name });
}

/** The error for files that come without a mapping; it lists their columns. @throws JsonlError, UploadError for a file that cannot be read */
async function mappingRequired(files: readonly TableFile[], signal: AbortSignal): Promise<UploadError> {
  const file = files.find(({ detected }) => detected.areItems !== true) ?? files[0];
  if (file === undefined) throw new RangeError('An upload has at least one file.');
  const { name, detected } = file;
  try {
    const table = await openFileTable(sourceOf(file), detected, { wholeFile: false, signal });
    const entries = table.features.map(toMappable).map(({ name: column, dtype }) => ({
      message: `Column ${JSON.stringify(column.slice(0, 100))} has the type ${dtype.slice(0, 100)}.`,
      file: name,
    }));
    const found =
      detected.format === 'jsonl'
        ? 'JSON Lines without `inputs` in every object are no items. Such a file'
        : `A ${detected.format} file`;
    const message = `${found} needs a mapping, which says which column becomes the prompt.`;
    return new UploadError('mapping_required', message, {}, entries.slice(0, MAX_ENTRIES));
  } catch (error) {
    throw toUploadError(error, name);
  }
}

const MAX_ENTRIES = 100;

/** Converts the files of another tool into a package for each run. Its hash stays the first file's. */
async function convertFiles(
  tool: Tool,
  files: readonly StagedFile[],
  { name }: { readonly name: string | undefined },
  stage: UploadStage,
  { converter, limits }: { readonly converter: ToolConverter; readonly limits: Partial<PackageLimits> },
  signal: AbortSignal,
): Promise<readonly StagedFile[]> {
  const output = stage.create();
  const [{ fileName, sha256 } = { fileName: '', sha256: '' }] = files;
  // Beside the output, which is empty until then: what a thread leaves goes with the folder.
  const folder = await mkdtemp(`${output.path}-`);
  try {
    const task = { tool, name, limits, folder, files };
    const made = await converter.convert(task, roomInSteps(output, 0), signal);
    const converted: StagedFile[] = [];
    for (const [index, path] of made.entries()) {
      const place = index === 0 ? output : stage.create();
      const { size: bytes } = await stat(path);
      if (index > 0) await place.makeRoom(bytes);
      await rename(path, place.path);
      converted.push({ fileName, sha256, path: place.path, content: null, bytes });
    }
    return converted;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function convertArchive(
  archive: StagedFile,
  { name }: { readonly name: string | undefined },
  stage: UploadStage,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<StagedFile> {
  const input = archive.content === null ? archive.path : await writeSmall(archive.content, stage);
  const output = stage.create();
  await output.makeRoom(archive.bytes);
  await convertLegacyFile(input, {
    output: output.path,
    name,
    fallbackName: nameOfFile(archive.fileName),
    limits,
    signal,
    makeRoom: roomInSteps(output, archive.bytes),
  });
  const { size: bytes } = await stat(output.path);
  return { ...archive, path: output.path, content: null, bytes };
}

async function writeSmall(content: Uint8Array, stage: UploadStage): Promise<string> {
  const file = stage.create();
  await file.makeRoom(content.byteLength);
  await writeFile(file.path, content, { flag: 'wx', mode: 0o600 });
  return file.path;
}
