import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, runWithContext } from '@svc/observability';
import { connectionConfig } from '@svc/postgres-client';
import { QUEUE_OPTIONS, QUEUE_SCHEMA, type QueueName, StoreError, type TaskData } from '@svc/store';
import { type JobWithMetadata, PgBoss } from 'pg-boss';
import { createNotifier, type Notifier } from './notifier.ts';
import { errorCode } from './task-failure.ts';

/** A task in the hands of this worker. */
export interface Task {
  /** of the run or the job, and of the task itself */
  readonly id: string;
  readonly kind: QueueName;
  /** from 1 */
  readonly attempt: number;
  /** aborted when this worker must let go of the task; whatever `work` throws then does not count */
  readonly signal: AbortSignal;
}

/** How a task ended that needs no more work; `done` also when there was nothing to do. */
export type TaskEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly code: string };

/** What is done with the tasks of a queue. */
export interface TaskHandler {
  /**
   * Does a task. A throw gives it back: uncounted when the database was away or the worker stops, else as a failed
   * try, whose cause the handler has logged.
   */
  work(task: Task): Promise<TaskEnd>;
  /** Records that the last try has failed, with what. */
  onRetriesExhausted(task: Task, error: unknown): Promise<void>;
}

/** Queues that share places in this process. */
interface Lane {
  readonly handlers: Readonly<Partial<Record<QueueName, TaskHandler>>>;
  /** tasks at once */
  readonly places: number;
  /** whether a task that is interrupted goes on where it stopped, so that handing it back costs nothing */
  readonly resumable: boolean;
}

export interface QueueOptions {
  /** postgresql:// URL */
  readonly url: string;
  readonly logger: Logger;
  readonly lanes: readonly Lane[];
}

export interface RunningQueue {
  /** A task may have come: look now. */
  wake(): void;
  /** Whether tasks could be asked for the last time. */
  isWorking(): boolean;
  /**
   * Takes no more tasks. Those that go on where they stopped are handed back at once, the others may end until
   * `signal` aborts; then they are handed back too.
   */
  stop(signal: AbortSignal): Promise<void>;
}

/** How long a task may wait where no notification tells of it. */
const POLL_MS = 2_000;
/** A quarter of what the queue allows, so that two lost beats do no harm. */
const HEARTBEAT_MS = (QUEUE_OPTIONS.heartbeatSeconds * 1000) / 4;
/** How often one of the workers looks for those that fell silent. */
const SUPERVISE_SECONDS = 5;
/** After the database was away, all workers have time for a heartbeat before anyone is taken for dead. */
const GRACE_MS = HEARTBEAT_MS * 3;
/** A try ends by itself after `expireInSeconds`; what can be resumed is handed back long before. */
const MAX_ATTEMPT_MS = (QUEUE_OPTIONS.expireInSeconds * 1000) / 2;
const RETRY_MS = 1_000;
/** A database that is not there yet is asked for again after ever longer pauses, up to this. */
const MAX_RETRY_MS = 15_000;
const CONNECTIONS = 2;

/** As if the task had never been taken: pg-boss itself can only fail it, which counts as a try. */
const RELEASE_TASK = `
WITH back AS (
  UPDATE ${QUEUE_SCHEMA}.job SET state = 'created', started_on = NULL, heartbeat_on = NULL
  WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3 RETURNING name
) SELECT pg_notify('svc_task', name) FROM back`;

const LEASE_LOST = 'the task is no longer ours';

/** Another worker may have the task: this one's claim has lapsed. */
class LeaseLostError extends Error {
  override readonly name = 'TaskLost';
}

/** The task goes back to the queue, and the try does not count. */
class HandBack extends Error {
  override readonly name = 'HandBack';
  readonly reason: 'stopping' | 'unavailable' | 'long';

  constructor(reason: HandBack['reason']) {
    super(`the task is handed back: ${reason}`);
    this.reason = reason;
  }
}

type Claimed = JobWithMetadata<TaskData>;

interface Held {
  readonly kind: QueueName;
  readonly job: Claimed;
  readonly lane: Lane;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Works on the queues: takes tasks as places get free, keeps their heartbeats, and settles each one: done, failed and
 * to be tried again, failed for good, or handed back. The only file of the worker that knows pg-boss.
 *
 * It fetches by itself instead of by `boss.work()`, which knows no way to hand a task back without counting a try.
 *
 * Resolves after the first try to reach the queue. Where that fails, since the database is away or was not migrated
 * yet, it is tried again until it succeeds or the worker stops; `isWorking` is false meanwhile.
 */
export async function startQueue({ url, logger, lanes }: QueueOptions): Promise<RunningQueue> {
  const boss = new PgBoss({
    ...connectionConfig({ url, applicationName: 'svc-queue' }),
    max: CONNECTIONS,
    schema: QUEUE_SCHEMA,
    migrate: false,
    schedule: false,
    // by ourselves, when the heartbeats have come through
    supervise: false,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  const stopping = new AbortController();
  /** nothing is waited for any more */
  const leaving = new AbortController();
  const held = new Set<Held>();
  const bells = new Map<Lane, Notifier>(lanes.map((lane) => [lane, createNotifier()]));

  let isWorking = true;
  let reachedSinceMs: number | undefined;
  /** The database has answered. */
  const succeeded = (): void => {
    isWorking = true;
    reachedSinceMs ??= performance.now();
  };
  /** An outage is told of once. */
  const failed = (error: unknown): void => {
    if (isWorking) logger.log('queue.error', { error });
    isWorking = false;
    reachedSinceMs = undefined;
  };
  boss.on('error', failed);

  let isOpen = false;
  async function open(): Promise<void> {
    try {
      await boss.start();
      isOpen = true;
      succeeded();
    } catch (error) {
      failed(error);
      await boss.stop({ graceful: false, close: true }).catch(failed);
    }
  }
  async function keepOpening(): Promise<void> {
    for (let waitMs = RETRY_MS; !isOpen; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
      await pause(waitMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await open();
    }
  }
  await open();
  const opened = keepOpening();

  async function serve(lane: Lane): Promise<void> {
    await opened;
    const kinds = Object.keys(lane.handlers) as QueueName[];
    while (!stopping.signal.aborted) {
      try {
        for (const kind of kinds) await fetchInto(lane, kind);
      } catch (error) {
        failed(error);
      }
      kinds.push(...kinds.splice(0, 1)); // so that no queue of the lane starves another
      await bells.get(lane)?.wait(POLL_MS, stopping.signal);
    }
  }

  async function fetchInto(lane: Lane, kind: QueueName): Promise<void> {
    const free = lane.places - [...held].filter((one) => one.lane === lane).length;
    if (free <= 0) return;
    const jobs = await boss.fetch<TaskData>(kind, { batchSize: free, includeMetadata: true });
    succeeded();
    for (const job of jobs) hold(lane, kind, job);
  }

  function hold(lane: Lane, kind: QueueName, job: Claimed): void {
    const controller = new AbortController();
    // Our own task, given to us once more: what we still do for the try before counts no more.
    for (const older of held)
      if (older.job.id === job.id) older.controller.abort(new LeaseLostError(LEASE_LOST));
    const tooLong = lane.resumable
      ? setTimeout(() => controller.abort(new HandBack('long')), MAX_ATTEMPT_MS)
      : undefined;
    const ended = Promise.withResolvers<void>();
    const one: Held = { kind, job, lane, controller, ended: ended.promise };
    held.add(one);
    const context = { request_id: job.data.request_id ?? undefined, job_id: job.id };
    void runWithContext(context, () => perform(one)).finally(() => {
      clearTimeout(tooLong);
      held.delete(one);
      bells.get(lane)?.notify();
      ended.resolve();
    });
  }

  async function perform(one: Held): Promise<void> {
    const { kind, job, controller } = one;
    const attempt = job.retryCount + 1;
    const startedAt = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - startedAt);
    const handler = one.lane.handlers[kind] as TaskHandler;
    const task: Task = { id: job.id, kind, attempt, signal: controller.signal };
    if (wasSilent(job)) logger.log('job.recover', { kind, attempt });
    const waited_ms = attempt === 1 ? Math.max(0, Date.now() - job.createdOn.getTime()) : undefined;
    logger.log('job.start', { kind, attempt, waited_ms });
    try {
      const end = await handler.work(task);
      await settle(() => boss.complete(kind, job));
      const duration_ms = elapsedMs();
      if (end.status === 'failed') logger.log('job.fail', { kind, attempt, code: end.code, duration_ms });
      else if (end.status === 'cancelled')
        logger.log('job.cancel', { kind, stage: 'cancelled', duration_ms });
      else logger.log('job.finish', { kind, attempt, duration_ms });
    } catch (thrown) {
      const error = controller.signal.aborted ? controller.signal.reason : thrown;
      if (error instanceof LeaseLostError || isCode(error, 'superseded')) return;
      if (error instanceof HandBack || isCode(error, 'unavailable')) {
        const reason = error instanceof HandBack ? error.reason : 'unavailable';
        logger.log('job.hand_back', { kind, attempt, reason });
        // Whoever takes it next would only find the database away too.
        if (reason === 'unavailable') await pause(POLL_MS, stopping.signal);
        await settle(() => release(one));
        return;
      }
      const code = errorCode(error);
      const isLast = job.retryCount >= job.retryLimit;
      if (isLast) await settle(() => handler.onRetriesExhausted(task, error));
      await settle(() => boss.fail(kind, job, { code }));
      if (isLast) logger.log('job.fail', { kind, attempt, code, duration_ms: elapsedMs() });
      else logger.log('job.retry', { kind, attempt, code });
    }
  }

  /** Until the database takes it, or there is no more time; the task is noticed as silent then. */
  async function settle(action: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await action();
        succeeded();
        return;
      } catch (error) {
        failed(error);
      }
      if (leaving.signal.aborted) return;
      await pause(RETRY_MS, leaving.signal);
    }
  }

  /** Only where the task is still ours; whoever waits for a task hears of it. */
  async function release({ kind, job }: Held): Promise<void> {
    await boss.getDb().executeSql(RELEASE_TASK, [kind, job.id, job.retryCount]);
  }

  async function stillHeld(kind: QueueName, jobs: readonly Claimed[]): Promise<Set<string>> {
    const answer = (await boss.touch(kind, [...jobs])) as { readonly settled?: readonly string[] };
    return new Set(answer.settled ?? jobs.map(({ id }) => id));
  }

  async function sendHeartbeats(): Promise<void> {
    for (const [kind, ones] of Map.groupBy(held, (one) => one.kind)) {
      const jobs = ones.map(({ job }) => job);
      const ours = await stillHeld(kind, jobs);
      succeeded();
      for (const { job, controller } of ones) {
        if (!ours.has(job.id)) controller.abort(new LeaseLostError(LEASE_LOST));
      }
    }
  }

  let beating = false;
  let supervisedAtMs = 0;
  const heartbeat = setInterval(async () => {
    if (beating || !isOpen) return;
    beating = true;
    try {
      await sendHeartbeats();
      const nowMs = performance.now();
      const hadGrace = nowMs - (reachedSinceMs ?? nowMs) >= GRACE_MS;
      // Whichever process comes first does it for all; the others find nothing to do.
      if (hadGrace && nowMs - supervisedAtMs >= SUPERVISE_SECONDS * 1000) {
        supervisedAtMs = nowMs;
        await boss.supervise();
        succeeded();
      }
    } catch (error) {
      failed(error);
    } finally {
      beating = false;
    }
  }, HEARTBEAT_MS);

  const serving = lanes.map(serve);

  return {
    wake: () => {
      for (const bell of bells.values()) bell.notify();
    },
    isWorking: () => isOpen && isWorking && !stopping.signal.aborted,
    async stop(signal) {
      stopping.abort();
      await Promise.all(serving);
      const handBackAll = (ones: readonly Held[]): void => {
        for (const { controller } of ones) controller.abort(new HandBack('stopping'));
      };
      handBackAll([...held].filter((one) => one.lane.resumable));
      const onLate = (): void => {
        handBackAll([...held]);
        leaving.abort();
      };
      if (signal.aborted) onLate();
      else signal.addEventListener('abort', onLate, { once: true });
      await Promise.all([...held].map((one) => one.ended));
      signal.removeEventListener('abort', onLate);
      clearInterval(heartbeat);
      await boss.stop({ graceful: false, close: true });
    },
  };
}

/** Whether the task comes from a worker that was not heard of any more. */
function wasSilent(job: Claimed): boolean {
  return job.retryCount > 0 && JSON.stringify(job.output ?? null).includes('job heartbeat timeout');
}

function isCode(error: unknown, code: StoreError['code']): boolean {
  return error instanceof StoreError && error.code === code;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
