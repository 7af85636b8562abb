import { AsyncLocalStorage } from 'node:async_hooks';

/** What ties log lines together. The three ids stand in every line written inside {@link runWithContext}. */
export interface LogContext {
  readonly request_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly job_id?: string | undefined;
  /**
   * Values that no line of this context may show, such as a token that came with one request. Never logged.
   */
  readonly secrets?: readonly string[] | undefined;
}

const storage = new AsyncLocalStorage<LogContext>();
const empty: LogContext = Object.freeze({});

/** The context of the running asynchronous task; empty outside {@link runWithContext}. */
export function currentContext(): LogContext {
  return storage.getStore() ?? empty;
}

/**
 * Calls `run` with `context` laid over the outer one, and gives back what it returns. Everything that `run`
 * starts, timers and promises too, sees it; when `run` returns, throws or rejects, the caller sees its own
 * context again. A member that is absent or undefined keeps the outer value; secrets add up.
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
