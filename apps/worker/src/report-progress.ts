import type { JobClaim, JobProgress, JobStore } from '@svc/store';

/** Stores the progress of a job, at most twice per second. */
export interface ProgressReport {
  update(progress: JobProgress): void;
  /** Resolves when the last update is stored or has failed. */
  flush(): Promise<void>;
}

const INTERVAL_MS = 500;

/**
 * Makes a report with one write at a time, which skips outdated updates.
 *
 * @param onError receives the errors of writes; a job continues without stored progress
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
