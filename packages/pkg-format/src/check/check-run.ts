import { PackageError } from '../errors.ts';
import { RESULTS_FILE, RUN_CONFIG_FILE } from '../package/layout.ts';
import { parseJsonFile } from '../package/open-archive.ts';
import type { EntryOptions, PackageReader } from '../package/package-reader.ts';
import { checkResultCount } from '../package/package-run.ts';
import { type CountedSections, createResultReader } from '../package/run-results.ts';
import { collectBytes } from '../zip/byte-source.ts';
import { checkLines } from './check-lines.ts';

/**
 * Checks the files of a run: that they are undamaged and JSON, and that each result refers to an item. Yields every error.
 *
 * @param sections null if some items are unknown, so that references cannot be checked
 */
export async function* checkRun(
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

/** The bytes of a file of the package; null if it does not exist. */
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
