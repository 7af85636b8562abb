import { splitLines } from '@svc/jsonl-v23/internal';
import { PackageError, type PackageReader } from '@svc/pkg-format';
import type { DatasetDraft } from '@svc/store';
import { readResults } from '../results/result-reader.ts';
import { type DryRun, dryRunResult } from './dry-run.ts';
import type { UploadOptions } from './package-source.ts';

/**
 * Does what an upload of a package does, but stores nothing. If a line is faulty, all lines are checked.
 *
 * @param draft of a dry run
 * @throws PackageError for anything but faulty lines; what the draft throws
 */
export async function dryRunPackage(
  pkg: PackageReader,
  draft: DatasetDraft,
  { maxLineBytes, maxDepth, signal, results }: UploadOptions,
): Promise<DryRun> {
  const options = { maxDepth, maxLineBytes };
  for (const { name, file, bytes } of pkg.sections) {
    const lines = splitLines(bytes({ signal }), { file, maxLineBytes, signal });
    try {
      await draft.section(name).writeLines(lines, { ...options, file, readFile: pkg.readFile });
    } catch (error) {
      const explained = await pkg.explain(error, file, { signal });
      const isLine = explained instanceof PackageError && explained.code === 'package_invalid_line';
      if (!isLine) throw explained;
      await checkLines(pkg, draft, { maxLineBytes, maxDepth, signal });
      // The check of all lines finds the faulty one too.
      if (draft.failures.total === 0) throw explained;
      return dryRunResult(null, draft);
    }
  }
  const run = await pkg.readRun({ signal });
  if (run !== null) for await (const _ of readResults(run, results, draft.hashes.sections, signal));
  await pkg.verify(draft.hashes, { signal });
  return dryRunResult(null, draft);
}

async function checkLines(
  pkg: PackageReader,
  draft: DatasetDraft,
  limits: Omit<UploadOptions, 'results'>,
): Promise<void> {
  const { maxLineBytes, maxDepth, signal } = limits;
  for (const { file, bytes } of pkg.sections) {
    try {
      const lines = splitLines(bytes({ signal }), { file, maxLineBytes, signal });
      await draft.checkLines(lines, { file, maxDepth, maxLineBytes });
    } catch {
      signal.throwIfAborted();
      // The rest of this section cannot be read.
    }
  }
}
