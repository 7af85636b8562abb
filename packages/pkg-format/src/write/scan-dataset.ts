import { joinItem } from '@svc/jsonl-v23';
import { compareUtf8, createSha256, ownText, toHex } from '@svc/jsonl-v23/bytes';
import { chooseFilePaths, contentPath, isUsablePath } from './choose-file-paths.ts';
import { type EmbeddedFile, externalizeAssets } from './embedded-files.ts';
import type { ExportDataset, ExportItem, ExportSection } from './export-dataset.ts';
import { linesToBytes } from './lines-to-bytes.ts';

/** The bytes of an entry, deflated already or as they are. */
export interface PackedBytes {
  readonly isDeflated: boolean;
  /** Digest of the bytes before compression. */
  readonly crc32: number;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
}

/** Reads bytes to their end, and keeps them deflated; null if it does not keep them. */
export type Pack = (bytes: AsyncIterable<Uint8Array>) => Promise<PackedBytes | null>;

/** An asset or checker file of a package, and the location of its content in an item. */
export type PackageFile = Readonly<KnownFile>;

/** What a writer must know of a dataset before it writes the first line of a package. */
export interface DatasetScan {
  readonly sections: readonly ScannedSection[];
  /** `assets/` before `checkers/`, each by the UTF-8 bytes of its path. */
  readonly files: readonly PackageFile[];
  readonly repeatedBytes: number;
  /** The path of a file that was found; undefined for another one. */
  pathOf(file: Pick<EmbeddedFile, 'folder' | 'sha256'>): string | undefined;
}

export interface ScannedSection extends FileDigest {
  /** Its lines, if the scan has kept them. */
  readonly packed: PackedBytes | null;
}

/** The key of content: the same bytes as an asset and as a checker are two files. */
export function fileKey(folder: EmbeddedFile['folder'], sha256: string): string {
  return `${folder}/${sha256}`;
}

/**
 * Finds the digests and files of a dataset. Reads only sections whose digest was not noted when they were stored. It
 * hashes their lines with a guess of the paths of their files, and reads the few sections with a wrong guess again. Memory
 * holds one batch, what `pack` keeps, and some hundred bytes for each file.
 */
export async function scanDataset(
  dataset: ExportDataset,
  pack: Pack | null,
  signal?: AbortSignal,
): Promise<DatasetScan> {
  const found = { assets: new Map<string, KnownFile>(), checkers: new Map<string, KnownFile>() };
  const sections: ScannedSection[] = [];
  let repeatedBytes = 0;
  for (const [index, section] of dataset.sections.entries()) {
    if (section.exportFile) {
      const { bytes, sha256 } = section.exportFile;
      sections.push({ bytes, sha256: toHex(sha256), packed: null });
      continue;
    }
    const noteFile = (file: EmbeddedFile, orderIndex: number): string => {
      const known = found[file.folder].get(file.sha256);
      if (known !== undefined) {
        repeatedBytes += file.byteLength;
        return addUse(known, file, index);
      }
      const first = firstUse(file, { section: index, orderIndex });
      found[file.folder].set(first.sha256, first);
      return first.path;
    };
    sections.push(await scanLines(exportLines(section, noteFile, signal), pack));
  }

  const files = [...found.assets.values(), ...found.checkers.values()];
  const misread = new Set<number>();
  for (const [index, path] of chooseFilePaths(files).entries()) {
    const file = files[index];
    if (file === undefined || file.path === path) continue;
    misread.add(file.section);
    for (const section of file.otherSections ?? []) misread.add(section);
    file.path = path;
  }
  const pathOf: DatasetScan['pathOf'] = ({ folder, sha256 }) => found[folder].get(sha256)?.path;
  for (const index of misread) {
    const section = dataset.sections[index];
    const lines = section && exportLines(section, (file) => pathOf(file) ?? '', signal);
    if (lines) sections[index] = await scanLines(lines, pack);
  }
  files.sort((a, b) => compareUtf8(a.path, b.path));
  return { sections, files, repeatedBytes, pathOf };
}

async function scanLines(lines: AsyncIterable<string[]>, pack: Pack | null): Promise<ScannedSection> {
  const meter = new DigestMeter();
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of linesToBytes(lines)) yield meter.add(chunk);
  }
  if (pack === null) for await (const _ of measured());
  const packed = pack && (await pack(measured()));
  return { ...meter.end(), packed };
}

/** Reads the lines of a section's file in batches: canonical items with their files moved out, without line feeds. */
export async function* exportLines(
  section: ExportSection,
  pathFor: (file: EmbeddedFile, orderIndex: number) => string,
  signal?: AbortSignal,
): AsyncGenerator<string[]> {
  let orderIndex = 0;
  const lineOf = (parts: ExportItem): string => {
    const index = orderIndex;
    orderIndex += 1;
    if (section.exportFile) return joinItem(parts);
    return joinItem(externalizeAssets(parts, (file) => pathFor(file, index)));
  };
  for await (const batch of section.items(signal)) {
    signal?.throwIfAborted();
    yield batch.map(lineOf);
  }
}

/** Content that items embed, as far as they have been read. A dataset may have a hundred thousand. */
export interface KnownFile {
  readonly folder: EmbeddedFile['folder'];
  /** Lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** The first one by its text; empty if no entry has one. */
  extension: string;
  /** The different `path` members of its entries: mostly none or one. */
  ownPaths: readonly string[] | Set<string>;
  /** The path in the package. Until all items are known, lines are written with a guess. */
  path: string;
  /** Index of the first section that embeds it. */
  readonly section: number;
  readonly orderIndex: number;
  /** JSON Pointer of the entry in that item; null for content that is read apart from items. */
  readonly pointer: string | null;
  otherSections: Set<number> | null;
}

const NO_PATHS: readonly string[] = [];

/** Notes content that no item before has embedded. @param place the section and item */
export function firstUse(
  file: EmbeddedFile,
  { section, orderIndex }: Pick<KnownFile, 'section' | 'orderIndex'>,
): KnownFile {
  const { folder, sha256, byteLength, extension, bytes } = file;
  const ownPath = file.ownPath === null ? null : ownText(file.ownPath);
  return {
    folder,
    sha256,
    bytes: byteLength,
    extension,
    ownPaths: ownPath === null ? NO_PATHS : [ownPath],
    path:
      ownPath !== null && isUsablePath(ownPath, file) ? ownPath : contentPath({ folder, sha256, extension }),
    section,
    orderIndex,
    pointer: bytes === null ? null : file.pointer,
    otherSections: null,
  };
}

/** Notes another use of content. @returns the path that lines are written with */
export function addUse(known: KnownFile, { ownPath, extension }: EmbeddedFile, section: number): string {
  if (section !== known.section) {
    known.otherSections ??= new Set();
    known.otherSections.add(section);
  }
  if (extension !== '' && (known.extension === '' || extension < known.extension))
    known.extension = extension;
  if (ownPath !== null) known.ownPaths = withPath(known.ownPaths, ownPath);
  return known.path;
}

function withPath(paths: KnownFile['ownPaths'], path: string): KnownFile['ownPaths'] {
  if (paths instanceof Set) return paths.add(ownText(path));
  return paths[0] === path ? paths : new Set([...paths, ownText(path)]);
}

export interface FileDigest {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export class DigestMeter {
  readonly #hash = createSha256();
  bytes = 0;

  add(chunk: Uint8Array): Uint8Array {
    this.#hash.update(chunk);
    this.bytes += chunk.byteLength;
    return chunk;
  }

  /** The digest of all bytes. Call it once. */
  end(): FileDigest {
    return { bytes: this.bytes, sha256: toHex(this.#hash.digest()) };
  }
}

export async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<FileDigest> {
  const meter = new DigestMeter();
  for await (const chunk of chunks) meter.add(chunk);
  return meter.end();
}
