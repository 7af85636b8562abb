import {
  createSectionHasher,
  encodeItem,
  type FileReference,
  formatLocation,
  type Item,
  JsonlError,
  rehydrateItem,
  type SourceLocation,
  versionHash,
} from '@svc/jsonl-v23';
import { checkItemSize } from '@svc/jsonl-v23/internal';
import { getMember, parseJson } from '@svc/jsonl-v23/json';
import { PackageError, type PackageReader, type PackageSection, toPackageError } from '@svc/pkg-format';
import type { HashedPackage, HashedSection } from '../package/hash-package.ts';
import { type CheckLinesOptions, checkLines } from './check-lines.ts';
import { createStyleJudge, fileFindings, type Linter } from './check-style.ts';
import type { Report } from './diagnostic.ts';
import { shortenLines } from './shorten-lines.ts';

/** A package as far as it could be read; the hash is null where an error leaves it without meaning. */
export type CheckedPackage = Omit<HashedPackage, 'versionHash' | 'assetCount'> & {
  readonly versionHash: string | null;
};

export interface CheckOptions {
  /** report style too */
  readonly strict: boolean;
  readonly signal: AbortSignal;
}

/**
 * Reads everything that an import reads, and the files of a run, and reports everything that is wrong: each faulty
 * line, each file that an item names in vain, each damaged file, and what the manifest states otherwise. Memory is
 * bounded as for an import.
 *
 * @throws only what keeps it from going on: errors of the file system, the signal's reason
 */
export async function checkPackage(
  pkg: PackageReader,
  options: CheckOptions,
  report: Report,
): Promise<CheckedPackage> {
  const { strict, signal } = options;
  let errorCount = 0;
  const damagedFiles = new Set<string>();
  const reportError = (error: unknown): void => {
    if (!(error instanceof PackageError)) throw error;
    const { code, message, location } = error;
    if (location.line === undefined) {
      // A damaged file is met again where the manifest states its checksum.
      const key = `${code} ${formatLocation(location)}`;
      if (damagedFiles.has(key)) return;
      damagedFiles.add(key);
    }
    errorCount++;
    report({ severity: 'error', code, message, location });
  };

  const judge = strict ? createStyleJudge() : null;
  const usedFiles = new Set<string>();
  const sections: HashedSection[] = [];
  for (const section of pkg.sections) {
    sections.push(await checkSection(pkg, section, signal, judge, usedFiles, report, reportError));
  }
  await checkRunFiles(pkg, signal, reportError);

  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  // After an error the hash of the rest says nothing; the files can still be held against the manifest.
  const found =
    errorCount === 0 ? { sections, versionHash: hash } : { sections: [], versionHash: statedHash(pkg) };
  for await (const error of pkg.mismatches(found, signal)) reportError(error);
  if (strict) {
    // Lines that could not be read may be those that refer to it.
    const unused = errorCount === 0 ? pkg.itemFiles.filter((file) => !usedFiles.has(composed(file))) : [];
    for (const finding of fileFindings(pkg.ignoredEntries, unused)) report(finding);
  }

  const itemCount = sections.reduce((sum, section) => sum + section.itemCount, 0);
  return { sections, itemCount, versionHash: errorCount === 0 ? hash : null };
}

async function checkSection(
  pkg: PackageReader,
  section: PackageSection,
  signal: AbortSignal,
  judge: Linter | null,
  usedFiles: Set<string>,
  report: Report,
  reportError: (error: unknown) => void,
): Promise<HashedSection> {
  const { name, file, orderIndex } = section;
  const hasher = createSectionHasher(name);
  let itemCount = 0;
  const lines = shortenLines(section.bytes(signal), pkg.limits.maxLineBytes);
  judge?.begin(file);
  try {
    for await (const checked of checkLines(lines, lineOptions(pkg, file, signal))) {
      const { location, item, error } = checked;
      if (error !== null) reportError(error);
      if (item !== null) {
        itemCount++;
        const hash = await hashItem(pkg, item, location, usedFiles, reportError);
        if (hash !== null) hasher.add(hash);
      }
      for (const finding of judge?.line(checked) ?? []) report(finding);
    }
    for (const finding of judge?.end(lines) ?? []) report(finding);
  } catch (error) {
    signal.throwIfAborted();
    reportError(toPackageError(error, file));
  }
  return { name, file, orderIndex, itemCount, sectionHash: hasher.digest() };
}

/** A name as it is compared: tools of some systems decompose accents, and no two names of a package differ in that alone. */
const composed = (name: string): string => name.normalize('NFC');

/** The hash of an item with its files put in; null when one of them cannot be. Every one of them is tried. */
async function hashItem(
  pkg: PackageReader,
  item: Item,
  location: SourceLocation,
  usedFiles: Set<string>,
  reportError: (error: unknown) => void,
): Promise<Uint8Array | null> {
  const maxItemBytes = pkg.limits.maxLineBytes;
  let isWhole = true;
  const readFile = async ({ path, pointer }: FileReference): Promise<Uint8Array> => {
    usedFiles.add(composed(path));
    try {
      return await pkg.readFile(path, { ...location, path: pointer });
    } catch (error) {
      isWhole = false;
      reportError(error);
      return new Uint8Array(0);
    }
  };
  try {
    const whole = await rehydrateItem(item, readFile, { maxItemBytes, location });
    const { itemHash, byteLength } = encodeItem(whole);
    checkItemSize(byteLength, 0, { maxItemBytes, location });
    return isWhole ? itemHash : null;
  } catch (error) {
    reportError(toPackageError(error, location.file ?? ''));
    return null;
  }
}

/** The files of a run, which an import does not read: whole, and JSON. */
async function checkRunFiles(
  pkg: PackageReader,
  signal: AbortSignal,
  reportError: (error: unknown) => void,
): Promise<void> {
  const results = entryOf(pkg, RESULTS_FILE, signal);
  if (results !== null) {
    try {
      const lines = shortenLines(results, pkg.limits.maxLineBytes);
      for await (const { error } of checkLines(lines, lineOptions(pkg, RESULTS_FILE, signal))) {
        if (error !== null) reportError(error);
      }
    } catch (error) {
      signal.throwIfAborted();
      reportError(error);
    }
  }
  const config = entryOf(pkg, RUN_CONFIG_FILE, signal);
  if (config !== null) {
    try {
      await checkJsonFile(config, RUN_CONFIG_FILE, pkg);
    } catch (error) {
      signal.throwIfAborted();
      reportError(error);
    }
  }
}

const RESULTS_FILE = 'results.jsonl';
const RUN_CONFIG_FILE = 'run_config.json';

/** The bytes of a file of the package; null where there is none. */
function entryOf(pkg: PackageReader, path: string, signal: AbortSignal): AsyncIterable<Uint8Array> | null {
  try {
    return pkg.readEntry(path, signal);
  } catch (error) {
    if (error instanceof PackageError && error.code === 'package_missing_file') return null;
    throw error;
  }
}

async function checkJsonFile(
  source: AsyncIterable<Uint8Array>,
  file: string,
  pkg: PackageReader,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > pkg.limits.maxLineBytes) {
      throw new PackageError('package_limit', `${file} has over ${pkg.limits.maxLineBytes} bytes`, {
        entry: file,
      });
    }
    chunks.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    parseJson(text, { maxDepth: pkg.limits.maxDepth, location: { file } });
  } catch (error) {
    const [message, location] =
      error instanceof JsonlError ? [error.message, error.location] : ['The file is not UTF-8', { file }];
    throw new PackageError('package_invalid_json', message, { entry: file, location, cause: error });
  }
}

/** What the manifest states, so that comparing it with itself finds nothing. */
function statedHash({ manifest }: PackageReader): string {
  const stated = manifest === null ? undefined : getMember(manifest, 'version_hash');
  return typeof stated === 'string' ? stated.toLowerCase() : '';
}

function lineOptions(pkg: PackageReader, file: string, signal: AbortSignal): CheckLinesOptions {
  return { file, limits: pkg.limits, signal };
}
