import {
  createSectionHasher,
  encodeItem,
  type FileReference,
  formatLocation,
  type Item,
  rehydrateItem,
  type SourceLocation,
  versionHash,
} from '@svc/jsonl-v23';
import { checkItemSize } from '@svc/jsonl-v23/assets';
import { getMember } from '@svc/jsonl-v23/json';
import { checkLine, LineCutter } from '@svc/jsonl-v23/lines';
import { PackageError, toPackageError } from './errors.ts';
import type { PackageLimits } from './limits.ts';
import { RESULTS_FILE, RUN_CONFIG_FILE } from './package/layout.ts';
import { parseJsonFile } from './package/open-archive.ts';
import type { EntryOptions, PackageReader, PackageSection } from './package/package-reader.ts';
import { checkResultCount, type SignalOptions } from './package/package-run.ts';
import { type CountedSections, createResultReader } from './package/run-results.ts';
import { collectBytes } from './zip/byte-source.ts';

/** A section that was read. */
export interface CheckedSection {
  readonly name: string;
  readonly file: string;
  readonly orderIndex: number;
  readonly itemCount: number;
  /** 32 bytes; of the valid items alone. */
  readonly sectionHash: Uint8Array;
}

/** What could be read of a package. */
export interface CheckedPackage {
  readonly sections: readonly CheckedSection[];
  /** Valid items. */
  readonly itemCount: number;
  /** Lower-case hex; null after an error. */
  readonly versionHash: string | null;
  /** Files in `assets/` and `checkers/` that no item refers to; empty after an error. */
  readonly unusedFiles: readonly string[];
}

/** Sees what is read, in the order of the package. */
export interface PackageWatcher {
  begin(file: string): void;
  line(line: CheckedLine): void;
  end(ends: FileEnds): void;
}

export interface CheckOptions extends SignalOptions {
  /** Sees the sections and their lines, for checks of your own. */
  readonly watcher?: PackageWatcher | undefined;
}

/**
 * Reads everything that an import reads, and the files of a run, and yields every error: invalid lines, missing and
 * damaged files, and differences from the manifest. Unlike reading, it continues after an error. Memory holds one item with
 * its files.
 *
 * @returns what could be read, with the version hash if there was no error
 * @throws errors of the file system, and the signal's reason
 * @example
 * const checking = checkPackage(pkg);
 * let next = await checking.next();
 * for (; !next.done; next = await checking.next()) console.log(formatLocation(next.value.location), next.value.message);
 * console.log(next.value.versionHash);
 */
export async function* checkPackage(
  pkg: PackageReader,
  options: CheckOptions = {},
): AsyncGenerator<PackageError, CheckedPackage, undefined> {
  const { signal } = options;
  const errors = new NewErrors();
  const usedFiles = new Set<string>();
  const sections: CheckedSection[] = [];
  for (const section of pkg.sections) {
    sections.push(yield* checkSection(pkg, section, options, usedFiles, errors));
  }
  // After an error, items are missing that results may refer to.
  for await (const error of checkRun(pkg, errors.count === 0 ? sections : null, signal)) {
    yield* errors.ifNew(error);
  }
  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  // After an error the version hash is unknown; the files can still be compared with the manifest.
  const found =
    errors.count === 0 ? { sections, versionHash: hash } : { sections: [], versionHash: manifestHash(pkg) };
  for await (const error of pkg.mismatches(found, { signal })) yield* errors.ifNew(error);
  const isWhole = errors.count === 0;
  return {
    sections,
    itemCount: sections.reduce((sum, section) => sum + section.itemCount, 0),
    versionHash: isWhole ? hash : null,
    // After an error, unread lines may refer to a file.
    unusedFiles: isWhole ? pkg.itemFiles.filter((file) => !usedFiles.has(composed(file))) : [],
  };
}

/** Counts errors, and leaves out repeated ones. */
class NewErrors {
  count = 0;
  readonly #damagedFiles = new Set<string>();
  readonly #limits = new WeakSet<PackageError>();

  /** @throws an error of another class */
  *ifNew(error: unknown): Generator<PackageError, void, undefined> {
    if (!(error instanceof PackageError)) throw error;
    if (error.code === 'package_limit') {
      // A limit of the whole archive is one error, whichever items exceed it.
      const limit = error.cause instanceof PackageError ? error.cause : error;
      if (this.#limits.has(limit)) return;
      this.#limits.add(limit);
    }
    if (error.location.line === undefined) {
      // A damaged file also differs from its checksum in the manifest.
      const key = `${error.code} ${formatLocation(error.location)}`;
      if (this.#damagedFiles.has(key)) return;
      this.#damagedFiles.add(key);
    }
    this.count += 1;
    yield error;
  }
}

async function* checkSection(
  pkg: PackageReader,
  section: PackageSection,
  { signal, watcher }: CheckOptions,
  usedFiles: Set<string>,
  errors: NewErrors,
): AsyncGenerator<PackageError, CheckedSection, undefined> {
  const { name, file, orderIndex } = section;
  const hasher = createSectionHasher(name);
  let itemCount = 0;
  watcher?.begin(file);
  const options = { file, limits: pkg.limits, signal, onEnd: (ends: FileEnds) => watcher?.end(ends) };
  try {
    for await (const line of checkLines(section.bytes({ signal }), options)) {
      for (const error of line.errors) yield* errors.ifNew(error);
      if (line.item !== null) {
        itemCount += 1;
        const { itemHash, problems } = await hashItem(pkg, line.item, line.location, usedFiles);
        for (const problem of problems) yield* errors.ifNew(problem);
        if (itemHash !== null) hasher.add(itemHash);
      }
      watcher?.line(line);
    }
  } catch (error) {
    signal?.throwIfAborted();
    yield* errors.ifNew(toPackageError(error, file));
  }
  return { name, file, orderIndex, itemCount, sectionHash: hasher.digest() };
}

/** Some tools decompose accents in names; no two names of a package differ in accents alone. */
const composed = (name: string): string => name.normalize('NFC');

/** The hash of an item with its files embedded; null if a file cannot be read. Reads all of them. */
async function hashItem(
  pkg: PackageReader,
  item: Item,
  location: SourceLocation,
  usedFiles: Set<string>,
): Promise<{ readonly itemHash: Uint8Array | null; readonly problems: readonly unknown[] }> {
  const maxItemBytes = pkg.limits.maxLineBytes;
  const problems: unknown[] = [];
  const readFile = async ({ path, pointer }: FileReference): Promise<Uint8Array> => {
    usedFiles.add(composed(path));
    try {
      return await pkg.readFile(path, { ...location, path: pointer });
    } catch (error) {
      problems.push(error);
      return new Uint8Array(0);
    }
  };
  try {
    const whole = await rehydrateItem(item, readFile, { maxItemBytes, location });
    const { itemHash, byteLength } = encodeItem(whole);
    checkItemSize(byteLength, 0, { maxItemBytes, location });
    return { itemHash: problems.length === 0 ? itemHash : null, problems };
  } catch (error) {
    problems.push(toPackageError(error, location.file ?? ''));
    return { itemHash: null, problems };
  }
}

/** The hash in the manifest, so that comparing the two finds no difference. */
function manifestHash({ manifest }: PackageReader): string {
  const hash = manifest === null ? undefined : getMember(manifest, 'version_hash');
  return typeof hash === 'string' ? hash.toLowerCase() : '';
}

/** A line of a JSON Lines file: its item, its errors, or neither if it is blank. */
export interface CheckedLine {
  readonly location: SourceLocation;
  /** Without the line feed; only the beginning of a line that is too long. */
  readonly bytes: Uint8Array;
  readonly item: Item | null;
  /** Empty if the line is valid or blank. */
  readonly errors: readonly PackageError[];
}

/** Facts that are known at the end of a file. */
export interface FileEnds {
  readonly hasByteOrderMark: boolean;
  readonly endsWithLineFeed: boolean;
}

export interface CheckLinesOptions {
  readonly file: string;
  readonly limits: PackageLimits;
  readonly signal?: AbortSignal | undefined;
  /** Receives how the file begins and ends. */
  readonly onEnd?: ((ends: FileEnds) => void) | undefined;
}

/**
 * Reads every line of a JSON Lines file, also after an invalid one, unlike an import. Holds one line in memory.
 * An invalid line does not throw: it has errors.
 *
 * @throws the error of the source, and the signal's reason
 */
export async function* checkLines(
  source: AsyncIterable<Uint8Array>,
  { file, limits, signal, onEnd }: CheckLinesOptions,
): AsyncGenerator<CheckedLine, void, undefined> {
  const { maxLineBytes, maxDepth } = limits;
  const cutter = new LineCutter({ maxLineBytes, signal });
  for await (const batch of cutter.lines(source)) {
    for (const line of batch) {
      signal?.throwIfAborted();
      const {
        location = { file, line: line.line },
        item = null,
        errors = [],
      } = checkLine(line, { file, maxDepth }) ?? {};
      const problems = errors.map((error) => toPackageError(error, file) as PackageError);
      yield { location, bytes: line.bytes, item, errors: problems };
    }
  }
  onEnd?.(cutter);
}

/** Yields every error of a run's files. @param sections null if some are unknown, so that no reference is checked */
async function* checkRun(
  pkg: PackageReader,
  sections: CountedSections | null,
  signal?: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  try {
    yield* checkResults(pkg, sections, signal);
  } catch (error) {
    signal?.throwIfAborted();
    yield error;
  }
  try {
    await checkConfig(pkg, signal);
    await pkg.readRun({ signal });
  } catch (error) {
    signal?.throwIfAborted();
    yield error;
  }
}

async function* checkResults(
  pkg: PackageReader,
  sections: CountedSections | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  const results = entryOf(pkg, RESULTS_FILE, { signal });
  if (results === null) return;
  const readResult = sections === null ? null : createResultReader(sections, pkg.limits);
  let count = 0;
  const lines = checkLines(results, { file: RESULTS_FILE, limits: pkg.limits, signal });
  for await (const { item, errors, location } of lines) {
    if (item !== null || errors.length > 0) count += 1;
    yield* errors;
    if (item === null || readResult === null) continue;
    const problem = problemOf(() => readResult(item, location));
    if (problem !== undefined) yield problem;
  }
  const problem = problemOf(() => checkResultCount(pkg.manifest, count));
  if (problem !== undefined) yield problem;
}

function problemOf(check: () => unknown): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    return error;
  }
}

function entryOf(pkg: PackageReader, path: string, options: EntryOptions): AsyncIterable<Uint8Array> | null {
  try {
    return pkg.readEntry(path, options);
  } catch (error) {
    if (error instanceof PackageError && error.code === 'package_missing_file') return null;
    throw error;
  }
}

async function checkConfig(pkg: PackageReader, signal: AbortSignal | undefined): Promise<void> {
  const config = entryOf(pkg, RUN_CONFIG_FILE, { signal, maxBytes: pkg.limits.maxLineBytes });
  if (config === null) return;
  parseJsonFile(await collectBytes(config), RUN_CONFIG_FILE, pkg.limits.maxDepth);
}
