import type { TaskClaim, TaskKind } from '@svc/store';

/** A task that this worker holds. */
export interface Task {
  /** Id of the run or job. */
  readonly id: string;
  readonly kind: TaskKind;
  /** From 1; attempts that ended with a shutdown or without a database do not count. */
  readonly attempt: number;
  /** Opens the run or job in the store. */
  readonly claim: TaskClaim;
  /** Aborted when this worker must release the task; what `work` then throws does not count. */
  readonly signal: AbortSignal;
}

/** How a task ended that needs no more work; `done` also when there was nothing to do. */
export type TaskEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly code: string };

/** The work of one kind of task. */
export interface TaskHandler {
  /**
   * Does a task and ends its run or job. After a throw the task is released: without counting an attempt when the database
   * is unavailable or the worker stops, else as a failed attempt, whose cause the handler has logged.
   */
  work(task: Task): Promise<TaskEnd>;
  /** Ends the run or job of a task whose last attempt failed with `error`. */
  onRetriesExhausted(task: Task, error: unknown): Promise<TaskEnd>;
}

/** The worker must release the task; the attempt does not count. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
  readonly reason: 'stopping' | 'unavailable';

  constructor(reason: ReleaseError['reason']) {
    super(`The worker releases the task: ${reason}.`);
    this.reason = reason;
  }
}

/** Another worker has claimed the task. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor() {
    super('Another worker has claimed the task.');
  }
}
