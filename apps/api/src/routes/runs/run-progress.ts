import type { Run } from '@svc/store';

/** How fast a run writes results, and how long it will take. */
export interface RunProgress {
  /** Results per minute; null until it is known. */
  readonly results_per_minute: number | null;
  /** Milliseconds; null until it is known. */
  readonly remaining_ms: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly written: number;
}

/** The rate is that of the last half minute. */
const WINDOW_MS = 30_000;

/**
 * Measures the progress of runs from what is read of them, again and again.
 *
 * @param nowMs a monotonic clock
 */
export function createProgressMeter(nowMs: () => number): (run: Run) => RunProgress {
  const samples = new Map<string, Sample[]>();
  return (run) => {
    const atMs = nowMs();
    for (const [id, of] of samples) if (atMs - (of.at(-1)?.atMs ?? 0) > 2 * WINDOW_MS) samples.delete(id);
    if (run.finishedAt !== null) {
      samples.delete(run.id);
      return { results_per_minute: null, remaining_ms: 0 };
    }
    const of = samples.get(run.id) ?? [];
    samples.set(run.id, of);
    while (of.length > 1 && atMs - (of[1]?.atMs ?? 0) > WINDOW_MS) of.shift();
    if (of.at(-1)?.written !== run.resultsWritten) of.push({ atMs, written: run.resultsWritten });
    const [first] = of;
    const last = of.at(-1);
    if (first === undefined || last === undefined || last.atMs === first.atMs) {
      return { results_per_minute: null, remaining_ms: null };
    }
    const perMs = (last.written - first.written) / (last.atMs - first.atMs);
    const remainingMs = perMs > 0 ? Math.round(run.resultsLeft / perMs) : null;
    return { results_per_minute: Math.round(perMs * 600_000) / 10, remaining_ms: remainingMs };
  };
}
