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
import { PackageError, type PackageReader, type PackageSection } from '@svc/pkg-format';
import { checkResultCount, createResultReader, toPackageError } from '@svc/pkg-format/internal';
import type { HashedPackage, HashedSection } from '../package/hash-package.ts';
import { type CheckLinesOptions, checkLines } from './check-lines.ts';
import { createLinter, type Linter, lintFiles } from './check-style.ts';
import type { Report } from './diagnostic.ts';
import { shortenLines } from './shorten-lines.ts';

/** What could be read of a package; the hash is null after an error. */
export type CheckedPackage = Omit<HashedPackage, 'versionHash' | 'assetCount'> & {
  readonly versionHash: string | null;
};

export interface CheckOptions {
  /** Also report style. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
}

/**
 * Reads everything that an import reads, and the files of a run, and reports every error: invalid lines, missing and
 * damaged files, and differences from the manifest. Memory is bounded as for an import.
 *
 * @throws errors of the file system, and the signal's reason
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
      // A damaged file also differs from its checksum in the manifest.
      const key = `${code} ${formatLocation(location)}`;
      if (damagedFiles.has(key)) return;
      damagedFiles.add(key);
    }
    errorCount += 1;
    report({ severity: 'error', code, message, location });
  };

  const linter = strict ? createLinter() : null;
  const usedFiles = new Set<string>();
  const sections: HashedSection[] = [];
  for (const section of pkg.sections) {
    sections.push(await checkSection(pkg, section, signal, linter, usedFiles, report, reportError));
  }
  // After an error, items are missing that results may refer to.
  await checkRunFiles(pkg, errorCount === 0 ? sections : null, signal, reportError);

  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  // After an error the version hash is unknown; the files can still be compared with the manifest.
  const found =
    errorCount === 0 ? { sections, versionHash: hash } : { sections: [], versionHash: manifestHash(pkg) };
  for await (const error of pkg.mismatches(found, signal)) reportError(error);
  if (strict) {
    // After an error, unread lines may refer to a file.
    const unused = errorCount === 0 ? pkg.itemFiles.filter((file) => !usedFiles.has(composed(file))) : [];
    for (const diagnostic of lintFiles(pkg.ignoredEntries, unused)) report(diagnostic);
  }

  const itemCount = sections.reduce((sum, section) => sum + section.itemCount, 0);
  return { sections, itemCount, versionHash: errorCount === 0 ? hash : null };
}

async function checkSection(
  pkg: PackageReader,
  section: PackageSection,
  signal: AbortSignal,
  linter: Linter | null,
  usedFiles: Set<string>,
  report: Report,
  reportError: (error: unknown) => void,
): Promise<HashedSection> {
  const { name, file, orderIndex } = section;
  const hasher = createSectionHasher(name);
  let itemCount = 0;
  const lines = shortenLines(section.bytes(signal), pkg.limits.maxLineBytes);
  linter?.begin(file);
  try {
    for await (const checked of checkLines(lines, lineOptions(pkg, file, signal))) {
      const { location, item, error } = checked;
      if (error !== null) reportError(error);
      if (item !== null) {
        itemCount += 1;
        const hash = await hashItem(pkg, item, location, usedFiles, reportError);
        if (hash !== null) hasher.add(hash);
      }
      for (const diagnostic of linter?.line(checked) ?? []) report(diagnostic);
    }
    for (const diagnostic of linter?.end(lines) ?? []) report(diagnostic);
  } catch (error) {
    signal.throwIfAborted();
    reportError(toPackageError(error, file));
  }
  return { name, file, orderIndex, itemCount, sectionHash: hasher.digest() };
}

/** Some tools decompose accents in names; no two names of a package differ in that alone. */
const composed = (name: string): string => name.normalize('NFC');

/** The hash of an item with its files embedded; null if a file cannot be read. Reads all of them. */
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

/** Checks the files of a run: that they are undamaged and JSON, and that each result refers to an item. */
async function checkRunFiles(
  pkg: PackageReader,
  sections: readonly HashedSection[] | null,
  signal: AbortSignal,
  reportError: (error: unknown) => void,
): Promise<void> {
  const results = entryOf(pkg, RESULTS_FILE, signal);
  if (results !== null) {
    try {
      const lines = shortenLines(results, pkg.limits.maxLineBytes);
      const readResult = sections === null ? null : createResultReader(sections, pkg.limits);
      let count = 0;
      for await (const checked of checkLines(lines, lineOptions(pkg, RESULTS_FILE, signal))) {
        const { error, item, location } = checked;
        if (item !== null || error !== null) count += 1;
        if (error !== null) reportError(error);
        else if (item !== null) checkResult(() => readResult?.(item, location), reportError);
      }
      checkResult(() => checkResultCount(pkg.manifest, count), reportError);
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
      return;
    }
  }
  try {
    await pkg.readRun(signal);
  } catch (error) {
    signal.throwIfAborted();
    reportError(error);
  }
}

function checkResult(check: () => unknown, reportError: (error: unknown) => void): void {
  try {
    check();
  } catch (error) {
    reportError(error);
  }
}

const RESULTS_FILE = 'results.jsonl';
const RUN_CONFIG_FILE = 'run_config.json';

/** The bytes of a file of the package; null if it does not exist. */
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
      throw new PackageError('package_limit', `${file} is longer than ${pkg.limits.maxLineBytes} bytes`, {
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

/** The hash in the manifest, so that comparing the two finds no difference. */
function manifestHash({ manifest }: PackageReader): string {
  const hash = manifest === null ? undefined : getMember(manifest, 'version_hash');
  return typeof hash === 'string' ? hash.toLowerCase() : '';
}

function lineOptions(pkg: PackageReader, file: string, signal: AbortSignal): CheckLinesOptions {
  return { file, limits: pkg.limits, signal };
}
