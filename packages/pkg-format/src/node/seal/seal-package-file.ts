import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { isDatasetName, toDatasetName } from '@svc/jsonl-v23';
import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { canonicalJson, getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { splitLines } from '@svc/jsonl-v23/lines';
import type { CheckedPackage } from '../../check-package.ts';
import { PackageError, quote } from '../../errors.ts';
import type { PackageLimits } from '../../limits.ts';
import {
  type Archive,
  type ArchiveFiles,
  checkDatasetName,
  isJunkFile,
  isPackageManifest,
  MANIFEST_FILE,
  type PackageGenerator,
  RESULTS_FILE,
} from '../../package/layout.ts';
import { type PackageReader, readPackage } from '../../package/package-reader.ts';
import { fileEntry, manifestMembers, type NamedFile, textEntry } from '../../write/plan-package.ts';
import { packagePlan } from '../../write/prepare-package.ts';
import { digestOf } from '../../write/scan-dataset.ts';
import { checkWhole, copiedFiles } from '../copy-package.ts';
import { type OnRead, withArchiveFile } from '../file-source.ts';
import { archiveName, writeOutput, writeWhole } from '../write-output.ts';
import { zipStream } from '../zip/zip-stream.ts';

/** Options of `sealPackageFile`. */
export interface SealOptions {
  /** The name of the dataset; by default the name in the manifest, or else of the file or folder. */
  readonly name?: string | undefined;
  /** The file to write; by default `sealedOutputPath(input)`. */
  readonly output?: string | undefined;
  /** Whether an existing output, which may be the input, is replaced. */
  readonly force?: boolean;
  /** The program that writes it; by default this library. */
  readonly generator?: PackageGenerator;
  readonly limits?: Partial<PackageLimits>;
  readonly signal?: AbortSignal;
  readonly onRead?: OnRead;
}

/** A sealed package. */
export interface SealReport {
  /** The file that was written. */
  readonly output: string;
  readonly name: string;
  /** Lower-case hex. */
  readonly versionHash: string;
  /** What the manifest stated before; null if it stated none. */
  readonly versionHashBefore: string | null;
  readonly itemCount: number;
  readonly sections: readonly { readonly name: string; readonly file: string; readonly itemCount: number }[];
  /** Number of files that the manifest lists. */
  readonly fileCount: number;
}

/**
 * Writes the manifest of a package again after its files were edited: counts, hashes and checksums. All other files are
 * copied byte for byte. Everything is checked first, except what the old manifest states. The output appears when it is
 * complete.
 *
 * @param input a package, or a folder with the files of one
 * @throws PackageError with entry and location, all of them in `errors`; errors of the file system, `EEXIST` if the
 *   output exists and `force` is not set; the signal's reason
 * @example
 * const { versionHash } = await sealPackageFile('unpacked/', { output: 'edited.pkg.zip' });
 */
export async function sealPackageFile(input: string, options: SealOptions = {}): Promise<SealReport> {
  const { name, force = false, limits, generator, signal, onRead } = options;
  const target = options.output ?? sealedOutputPath(input);
  return await writeOutput(target, { force }, async (temporary, tempDir) => {
    let source = input;
    if ((await stat(input)).isDirectory()) {
      source = tempDir.path('folder.zip');
      await writeWhole(source, zipFolder(input, signal));
    }
    return await withArchiveFile(source, { limits, onRead }, async (archive) => {
      const pkg = await readPackage(await unsealed(archive));
      const found = await checkWhole(pkg, signal);
      const { paths, sources } = copiedFiles(archive, pkg);
      const files: NamedFile[] = [];
      for (const path of paths) {
        const digest = await digestOf(archive.read(path, { uncounted: true, signal }));
        files.push({ path, ...digest });
      }
      const resultCount = await countResults(archive, signal);
      const facts = { name: name ?? ownName(pkg, input), files, resultCount, generator };
      const manifest = sealedManifest(pkg, found, facts);
      const entries = [
        textEntry(MANIFEST_FILE, `${canonicalJson(manifest)}\n`),
        ...files.map((file) => fileEntry(file.path, file)),
      ];
      await writeWhole(
        temporary,
        zipStream(async () => packagePlan(entries, sources), signal),
      );
      const before = (await archive.readJsonObject(MANIFEST_FILE))?.['version_hash'];
      return {
        output: target,
        name: getMember(manifest, 'name') as string,
        versionHash: found.versionHash ?? '',
        versionHashBefore: typeof before === 'string' ? before : null,
        itemCount: found.itemCount,
        sections: found.sections.map((section) => ({
          name: section.name,
          file: section.file,
          itemCount: section.itemCount,
        })),
        fileCount: files.length,
      };
    });
  });
}

/** The default output: `data/new.pkg.zip` for the folder `data/new` as for `data/new.zip`. */
export function sealedOutputPath(input: string): string {
  const path = resolve(input);
  return join(dirname(path), `${archiveName(path)}.pkg.zip`);
}

/** The archive with a manifest that states nothing about the files. */
async function unsealed(archive: Archive): Promise<Archive> {
  const manifest = await archive.readJsonObject(MANIFEST_FILE);
  if (manifest === null) return archive;
  const unsealed = unsealedManifest(manifest, archive.files);
  return {
    ...archive,
    readJsonObject: async (path) => (path === MANIFEST_FILE ? unsealed : await archive.readJsonObject(path)),
  };
}

function ownName({ manifest }: PackageReader, input: string): string {
  const name = manifest === null ? undefined : getMember(manifest, 'name');
  return isDatasetName(name) ? name : toDatasetName(archiveName(resolve(input)), 'package');
}

function sealedManifest(
  pkg: PackageReader,
  found: CheckedPackage,
  facts: {
    readonly name: string;
    readonly files: readonly NamedFile[];
    readonly resultCount: number;
    readonly generator: PackageGenerator | undefined;
  },
): JsonObject {
  checkDatasetName(facts.name);
  const manifest: JsonObject = {
    ...pkg.manifest,
    ...manifestMembers({ ...found, ...facts }),
    files: facts.files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
  };
  const run = getMember(manifest, 'run');
  if (isJsonObject(run)) manifest['run'] = { ...run, results: facts.resultCount };
  return manifest;
}

/** How many results the archive has: lines that are not blank. */
async function countResults(archive: Archive, signal?: AbortSignal): Promise<number> {
  if (!archive.files.has(RESULTS_FILE)) return 0;
  let count = 0;
  const { maxLineBytes } = archive.limits;
  const lines = archive.read(RESULTS_FILE, { uncounted: true });
  for await (const batch of splitLines(lines, { maxLineBytes, signal })) {
    count += batch.itemCount;
  }
  return count;
}

/** What a manifest states about the files next to it. */
const STATED = ['version_hash', 'hash_spec', 'files', 'sections'];

/** A manifest without what an edit invalidates: hashes, sizes and counts. Sections whose file exists keep their names. */
function unsealedManifest(manifest: JsonObject, files: ArchiveFiles): JsonObject {
  const rest: JsonObject = {};
  for (const [key, value] of Object.entries(manifest)) if (!STATED.includes(key)) rest[key] = value;
  if (!isPackageManifest(manifest)) return rest;
  const sections = getMember(manifest, 'sections');
  rest['sections'] = (Array.isArray(sections) ? sections : []).filter(isJsonObject).flatMap((section) => {
    const [name, file] = [getMember(section, 'name'), getMember(section, 'file')];
    return typeof file === 'string' && files.has(file) && typeof name === 'string' ? [{ name, file }] : [];
  });
  const run = getMember(manifest, 'run');
  if (isJsonObject(run)) {
    const { results: _, ...stated } = run;
    rest['run'] = stated;
  }
  return rest;
}

/**
 * The files of a folder as an archive, except files that macOS adds. An empty manifest represents a missing one.
 *
 * @throws PackageError `package_unsafe_entry` for anything but a file or folder, such as a symbolic link; errors of
 *   the file system; the signal's reason
 */
export async function* zipFolder(folder: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    signal?.throwIfAborted();
    if (entry.isDirectory()) continue;
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/');
    if (isJunkFile(path)) continue;
    if (!entry.isFile()) {
      throw new PackageError('package_unsafe_entry', `${quote(path)} is neither a file nor a folder.`, {
        entry: path,
      });
    }
    paths.push(path);
  }
  const rest = paths.filter((path) => path !== MANIFEST_FILE).sort(compareUtf8);
  const hasManifest = rest.length < paths.length;
  const entries = [
    hasManifest ? fileEntry(MANIFEST_FILE, null) : textEntry(MANIFEST_FILE, '{}\n'),
    ...rest.map((path) => fileEntry(path, null)),
  ];
  const sources = new Map(paths.map((path) => [path, () => createReadStream(join(folder, path))]));
  yield* zipStream(async () => packagePlan(entries, sources), signal);
}
