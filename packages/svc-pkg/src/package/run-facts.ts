import type { PackageReader, PackageRun } from '@svc/pkg-format';
import { countOf, printableValue } from '../text/format.ts';

/** The run that a package holds, in short. */
export interface RunFacts extends Pick<PackageRun, 'id' | 'name' | 'status'> {
  readonly resultCount: number;
}

/**
 * Reads the run of a package with all its results; null if there is none.
 *
 * @param sections all sections of the package
 * @throws PackageError
 */
export async function readRunFacts(
  pkg: PackageReader,
  sections: Parameters<PackageRun['results']>[0],
  signal: AbortSignal,
): Promise<RunFacts | null> {
  const run = await pkg.readRun({ signal });
  if (run === null) return null;
  let resultCount = 0;
  for await (const batch of run.results(sections, { signal })) resultCount += batch.length;
  const { id, name, status } = run;
  return { id, name, status, resultCount };
}

/** One line for people. */
export function runText({ id, name, status, resultCount }: RunFacts): string {
  const title = name ?? id;
  return `${title === null ? '' : `${printableValue(title)}, `}${status}, ${countOf(resultCount, 'result')}`;
}

/** The facts for machines. */
export function runDocument({ id, name, status, resultCount }: RunFacts): Record<string, unknown> {
  return { id, name, status, result_count: resultCount };
}
