import { joinItem } from '@svc/jsonl-v23';
import { createSha256, type ItemParts, type Sha256 } from '@svc/jsonl-v23/internal';
import { toHex } from '../hex.ts';
import { compareUtf8 } from '../zip/entry-name.ts';
import { chooseFilePaths, contentPath, isUsablePath } from './choose-file-paths.ts';
import { type EmbeddedFile, externalizeAssets } from './embedded-files.ts';
import type { ExportDataset, ExportSection } from './export-dataset.ts';
import { linesToBytes } from './lines-to-bytes.ts';

/** Size and checksum of a file in a package. */
export interface FileDigest {
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/** An asset or checker file of a package, and an item that embeds its content. */
interface PackageFile extends FileDigest {
  path: string;
  /** Index of the section in the dataset. */
  section: number;
  orderIndex: number;
  /** JSON Pointer of the entry in the item. */
  pointer: string;
}

/** All that has to be known of a dataset before the first line of a package can be written. */
export interface DatasetScan {
  /** In order. */
  sections: FileDigest[];
  /** `assets/` before `checkers/`, each by the UTF-8 bytes of its path. */
  files: PackageFile[];
  /** The path of each content by `fileKey`. */
  paths: ReadonlyMap<string, string>;
}

/** Names a content: the same bytes as an asset and as a checker are two files. */
export function fileKey(folder: EmbeddedFile['folder'], sha256: string): string {
  return `${folder}/${sha256}`;
}

/** Hashes bytes in one go. */
export function sha256Hex(bytes: Uint8Array): string {
  const hash = createSha256();
  hash.update(bytes);
  return toHex(hash.digest());
}

interface KnownContent {
  folder: EmbeddedFile['folder'];
  sha256: string;
  bytes: number;
  extension: string;
  ownPaths: Set<string>;
  /** The path that lines were hashed with so far. */
  guess: string;
  section: number;
  orderIndex: number;
  pointer: string;
}

/**
 * Finds out a dataset's facts: at once where they were noted when it was stored, else by reading it. Lines are hashed
 * with a guess of where their files will lie; the few sections whose guess was wrong are read again. Memory holds one
 * batch, and some hundred bytes for each file.
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
      const sha256 = sha256Hex(file.bytes);
      const key = fileKey(file.folder, sha256);
      const content = contents.get(key) ?? firstSeen(file, sha256, index, orderIndex);
      contents.set(key, content);
      if (file.ownPath !== null) content.ownPaths.add(file.ownPath);
      if (file.extension !== '' && (content.extension === '' || file.extension < content.extension)) {
        content.extension = file.extension;
      }
      used.set(key, content.guess);
      return content.guess;
    };
    sections.push(await hashLines(section, noteFile, signal));
  }

  const known = [...contents.values()];
  const chosen = chooseFilePaths(known);
  const paths = new Map([...contents.keys()].map((key, index) => [key, chosen[index]!]));
  for (const [index, used] of guesses.entries()) {
    if (!used || [...used].every(([key, guess]) => paths.get(key) === guess)) continue;
    const pathOf = ({ folder, bytes }: EmbeddedFile) => paths.get(fileKey(folder, sha256Hex(bytes)))!;
    sections[index] = await hashLines(dataset.sections[index]!, pathOf, signal);
  }

  const files = known.map(({ bytes, sha256, section, orderIndex, pointer }, index) => ({
    path: chosen[index]!,
    bytes,
    sha256,
    section,
    orderIndex,
    pointer,
  }));
  return { sections, files: files.sort((a, b) => compareUtf8(a.path, b.path)), paths };
}

function firstSeen(file: EmbeddedFile, sha256: string, section: number, orderIndex: number): KnownContent {
  const { folder, extension, ownPath, pointer, bytes } = file;
  const guess =
    ownPath !== null && isUsablePath(ownPath, file) ? ownPath : contentPath({ folder, sha256, extension });
  return {
    folder,
    sha256,
    bytes: bytes.byteLength,
    extension,
    ownPaths: new Set(),
    guess,
    section,
    orderIndex,
    pointer,
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

/** The lines of a section's file: canonical items whose files are moved out, without line ends, in batches. */
export async function* exportLines(
  section: ExportSection,
  pathFor: (file: EmbeddedFile, orderIndex: number) => string,
  signal?: AbortSignal,
): AsyncGenerator<string[]> {
  let orderIndex = 0;
  const lineOf = (parts: ItemParts): string => {
    const index = orderIndex++;
    if (section.exportFile) return joinItem(parts);
    return joinItem(externalizeAssets(parts, (file) => pathFor(file, index)));
  };
  for await (const batch of section.items(signal)) {
    signal?.throwIfAborted();
    yield batch.map(lineOf);
  }
}
