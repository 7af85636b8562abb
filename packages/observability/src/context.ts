import { AsyncLocalStorage } from 'node:async_hooks';

/** What connects log lines. Every line written inside {@link runWithContext} has the three ids. */
export interface LogContext {
  readonly request_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly job_id?: string | undefined;
  /** Values that no line of this context may show, such as the token of one request. Never logged. */
  readonly secrets?: readonly string[] | undefined;
}

const storage = new AsyncLocalStorage<LogContext>();
const empty: LogContext = Object.freeze({});

/** The context of the running asynchronous task; empty outside {@link runWithContext}. */
export function currentContext(): LogContext {
  return storage.getStore() ?? empty;
}

/**
 * Calls `run` with `context` merged over the outer context, and returns its result. Everything that `run` starts,
 * including timers and promises, sees the merged context; the caller keeps its context. A member that is absent or
 * undefined keeps the outer value; secrets add up.
 *
 * @example
 * await runWithContext({ run_id: run.id }, async () => {
 *   logger.log('worker.run.start', { attempt: 1 });   // carries run_id
 * });
 */
export function runWithContext<T>(context: LogContext, run: () => T): T {
  const outer = currentContext();
  const secrets =
    outer.secrets && context.secrets
      ? [...outer.secrets, ...context.secrets]
      : (context.secrets ?? outer.secrets);
  const merged: LogContext = Object.freeze({
    request_id: context.request_id ?? outer.request_id,
    run_id: context.run_id ?? outer.run_id,
    job_id: context.job_id ?? outer.job_id,
    secrets,
  });
  return storage.run(merged, run);
}
