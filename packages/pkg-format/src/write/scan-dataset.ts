import { joinItem } from '@svc/jsonl-v23';
import { createSha256, type Sha256 } from '@svc/jsonl-v23/internal';
import { toHex } from '../hex.ts';
import { compareUtf8 } from '../zip/entry-name.ts';
import { chooseFilePaths, contentPath, isUsablePath } from './choose-file-paths.ts';
import { type EmbeddedFile, externalizeAssets } from './embedded-files.ts';
import type { ExportDataset, ExportItem, ExportSection } from './export-dataset.ts';
import { linesToBytes } from './lines-to-bytes.ts';

/** Size and checksum of a file in a package. */
export interface FileDigest {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** An asset or checker file of a package, and the location of its content in an item. */
interface PackageFile extends FileDigest {
  readonly path: string;
  /** Index of the section in the dataset. */
  readonly section: number;
  readonly orderIndex: number;
  /** JSON Pointer of the entry in the item. */
  readonly pointer: string;
  /** Whether the content is read apart from that item. */
  readonly isLinked: boolean;
}

/** What a writer must know of a dataset before it writes the first line of a package. */
export interface DatasetScan {
  /** In order. */
  readonly sections: FileDigest[];
  /** `assets/` before `checkers/`, each by the UTF-8 bytes of its path. */
  readonly files: PackageFile[];
  /** The path of each content by `fileKey`. */
  readonly paths: ReadonlyMap<string, string>;
}

/** The key of content: the same bytes as an asset and as a checker are two files. */
export function fileKey(folder: EmbeddedFile['folder'], sha256: string): string {
  return `${folder}/${sha256}`;
}

interface KnownContent {
  readonly folder: EmbeddedFile['folder'];
  readonly sha256: string;
  readonly bytes: number;
  readonly extensions: Set<string>;
  readonly ownPaths: Set<string>;
  /** The path with which lines have been hashed so far. */
  readonly guess: string;
  readonly section: number;
  readonly orderIndex: number;
  readonly pointer: string;
  readonly isLinked: boolean;
}

/**
 * Finds the digests and files of a dataset. Reads only sections whose digest was not noted when they were stored. It
 * hashes their lines with a guess of the paths of their files, and reads the few sections with a wrong guess again. Memory
 * holds one batch, and some hundred bytes for each file.
 */
export async function scanDataset(dataset: ExportDataset, signal?: AbortSignal): Promise<DatasetScan> {
  const contents = new Map<string, KnownContent>();
  const guesses: Map<string, string>[] = [];
  const sections: FileDigest[] = [];
  for (const [index, section] of dataset.sections.entries()) {
    if (section.exportFile) {
      sections.push({ bytes: section.exportFile.bytes, sha256: toHex(section.exportFile.sha256) });
      continue;
    }
    const used = new Map<string, string>();
    guesses[index] = used;
    const noteFile = (file: EmbeddedFile, orderIndex: number): string => {
      const key = fileKey(file.folder, file.sha256);
      const content = contents.get(key) ?? firstSeen(file, index, orderIndex);
      contents.set(key, content);
      if (file.ownPath !== null) content.ownPaths.add(file.ownPath);
      if (file.extension !== '') content.extensions.add(file.extension);
      used.set(key, content.guess);
      return content.guess;
    };
    sections.push(await hashLines(section, noteFile, signal));
  }

  const known = Array.from(contents.values(), (content) => ({
    ...content,
    extension: [...content.extensions].sort()[0] ?? '',
  }));
  const chosen = chooseFilePaths(known);
  const paths = new Map([...contents.keys()].map((key, index) => [key, chosen[index] ?? '']));
  for (const [index, section] of dataset.sections.entries()) {
    const used = guesses[index];
    if (!used || [...used].every(([key, guess]) => paths.get(key) === guess)) continue;
    const pathOf = ({ folder, sha256 }: EmbeddedFile) => paths.get(fileKey(folder, sha256)) ?? '';
    sections[index] = await hashLines(section, pathOf, signal);
  }

  const files = known.map(({ bytes, sha256, section, orderIndex, pointer, isLinked }, index) => ({
    path: chosen[index] ?? '',
    bytes,
    sha256,
    section,
    orderIndex,
    pointer,
    isLinked,
  }));
  return { sections, files: files.sort((a, b) => compareUtf8(a.path, b.path)), paths };
}

function firstSeen(file: EmbeddedFile, section: number, orderIndex: number): KnownContent {
  const { folder, extension, ownPath, pointer, sha256, byteLength, bytes } = file;
  const guess =
    ownPath !== null && isUsablePath(ownPath, file) ? ownPath : contentPath({ folder, sha256, extension });
  return {
    folder,
    sha256,
    bytes: byteLength,
    extensions: new Set(),
    ownPaths: new Set(),
    guess,
    section,
    orderIndex,
    pointer,
    isLinked: bytes === null,
  };
}

async function hashLines(
  section: ExportSection,
  pathFor: (file: EmbeddedFile, orderIndex: number) => string,
  signal?: AbortSignal,
): Promise<FileDigest> {
  const hash: Sha256 = createSha256();
  let bytes = 0;
  for await (const chunk of linesToBytes(exportLines(section, pathFor, signal))) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { bytes, sha256: toHex(hash.digest()) };
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
