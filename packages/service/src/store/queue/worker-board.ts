import type { TaskTable } from './task-queue.ts';

/** What a worker says about itself, every few seconds. */
export interface WorkerReport {
  /** UUID of the process. */
  readonly id: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** The tasks that it may work on and works on, by their table. */
  readonly concurrency: Readonly<Record<TaskTable, number>>;
  readonly running: Readonly<Record<TaskTable, number>>;
  /** Its requests to model providers, by minute. */
  readonly provider: MinuteCounts;
}

/** Counts of consecutive minutes, the last {@link HISTORY_MINUTES} at most. */
interface MinuteCounts {
  /** The minute of the first count, since the epoch. */
  readonly firstMinute: number;
  readonly requests: readonly number[];
  /** Those of the requests that failed. */
  readonly errors: readonly number[];
}

/** Six hours. */
export const HISTORY_MINUTES = 360;
export const REPORT_MS = 5_000;
/** A count fits into a notification with all others: PostgreSQL takes less than 8,000 bytes. */
const MAX_COUNT = 999_999;
const MINUTE_MS = 60_000;
const GONE_MS = 3 * REPORT_MS;
/** Workers that start and end again and again do not fill the memory. */
const MAX_WORKERS = 200;

/** Counts by minute, of the last six hours. */
export class MinuteHistory {
  readonly #counts = new Map<number, { requests: number; errors: number }>();

  add(isError: boolean, nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS);
    let count = this.#counts.get(minute);
    if (count === undefined) {
      for (const old of this.#counts.keys()) if (old <= minute - HISTORY_MINUTES) this.#counts.delete(old);
      count = { requests: 0, errors: 0 };
      this.#counts.set(minute, count);
    }
    count.requests = Math.min(count.requests + 1, MAX_COUNT);
    if (isError) count.errors = Math.min(count.errors + 1, MAX_COUNT);
  }

  /** The counts until now. @param nowMs since the epoch */
  read(nowMs: number): MinuteCounts {
    const last = Math.floor(nowMs / MINUTE_MS);
    const minutes = [...this.#counts.keys()].filter(
      (minute) => minute > last - HISTORY_MINUTES && minute <= last,
    );
    if (minutes.length === 0) return { firstMinute: last, requests: [], errors: [] };
    const firstMinute = Math.min(...minutes);
    const counts = Array.from({ length: last - firstMinute + 1 }, (_, at) =>
      this.#counts.get(firstMinute + at),
    );
    return {
      firstMinute,
      requests: counts.map((count) => count?.requests ?? 0),
      errors: counts.map((count) => count?.errors ?? 0),
    };
  }
}

export class WorkerBoard {
  readonly #workers = new Map<string, { readonly report: WorkerReport; readonly seenAtMs: number }>();

  /** Takes a notification of the channel `svc_worker`; one of another version that cannot be read is left out. */
  read(payload: string, nowMs: number): void {
    const report = toReport(payload);
    if (report !== null) this.take(report, nowMs);
  }

  /** Takes a report, in place of the last one of that worker. @param nowMs since the epoch */
  take(report: WorkerReport, nowMs: number): void {
    this.#workers.delete(report.id);
    this.#workers.set(report.id, { report, seenAtMs: nowMs });
    for (const [id, { seenAtMs }] of this.#workers) {
      const isOld = seenAtMs <= nowMs - HISTORY_MINUTES * MINUTE_MS;
      if (isOld || this.#workers.size > MAX_WORKERS) this.#workers.delete(id);
      else break;
    }
  }

  /** The workers that report now, the oldest first. @param nowMs since the epoch */
  workers(nowMs: number): readonly WorkerReport[] {
    return [...this.#workers.values()]
      .filter(({ seenAtMs }) => seenAtMs > nowMs - GONE_MS)
      .map(({ report }) => report)
      .sort((a, b) => a.startedAtMs - b.startedAtMs);
  }

  /** The requests to model providers of the last six hours, also of workers that have ended; minutes without any are left out. */
  providerMinutes(nowMs: number) {
    const last = Math.floor(nowMs / MINUTE_MS);
    const sums = new Map<number, { minute: number; requests: number; errors: number }>();
    for (const { report } of this.#workers.values()) {
      const { firstMinute, requests, errors } = report.provider;
      for (const [at, count] of requests.entries()) {
        const minute = firstMinute + at;
        if (count === 0 || minute <= last - HISTORY_MINUTES) continue;
        const before = sums.get(minute);
        sums.set(minute, {
          minute,
          requests: count + (before?.requests ?? 0),
          errors: (errors[at] ?? 0) + (before?.errors ?? 0),
        });
      }
    }
    return [...sums.values()].sort((a, b) => a.minute - b.minute);
  }
}

function toReport(payload: string): WorkerReport | null {
  try {
    const { id, version, startedAtMs, concurrency, running, provider } = JSON.parse(payload) as WorkerReport;
    const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
    const { firstMinute, requests, errors } = provider;
    const numbers = [
      ...[startedAtMs, concurrency.runs, concurrency.jobs, running.runs, running.jobs, firstMinute],
      ...[...requests, ...errors],
    ];
    const isValid =
      typeof id === 'string' &&
      typeof version === 'string' &&
      numbers.every(isCount) &&
      requests.length <= HISTORY_MINUTES;
    return isValid ? { id, version, startedAtMs, concurrency, running, provider } : null;
  } catch {
    return null;
  }
}
