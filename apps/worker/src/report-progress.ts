import type { JobClaim, JobProgress, JobStore } from '@svc/store';

/** Tells the database how far a job is, no oftener than it can be of interest to anyone. */
export interface ProgressReport {
  update(progress: JobProgress): void;
  /** Resolves when the last update is stored, or could not be. */
  flush(): Promise<void>;
}

const INTERVAL_MS = 500;

/**
 * Makes a report that has one write under way at a time and leaves out what was overtaken.
 *
 * @param onError hears of writes that failed; progress that is not stored is no reason to stop
 */
export function reportProgress(
  jobs: Pick<JobStore, 'report'>,
  claim: JobClaim,
  onError: (error: unknown) => void,
): ProgressReport {
  let latest: JobProgress | undefined;
  let writing: Promise<void> | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;

  const write = async (): Promise<void> => {
    const progress = latest;
    latest = undefined;
    if (progress !== undefined) await jobs.report(claim, progress).catch(onError);
    writtenAt = performance.now();
    writing = undefined;
  };

  return {
    update: (progress) => {
      latest = progress;
      if (performance.now() - writtenAt >= INTERVAL_MS) writing ??= write();
    },
    flush: async () => {
      await writing;
      await write();
    },
  };
}
