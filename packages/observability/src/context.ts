import { AsyncLocalStorage } from 'node:async_hooks';

/** What connects log lines. Every line written inside {@link runWithContext} has these fields. */
export interface ContextFields {
  readonly request_id?: string | undefined;
  /** Who asks, such as the name of a key. */
  readonly actor?: string | undefined;
  /** The trace of the caller, from the header `traceparent`: 32 hex digits. */
  readonly trace_id?: string | undefined;
  /** The span of the caller, from the header `traceparent`: 16 hex digits. */
  readonly span_id?: string | undefined;
  readonly [name: string]: unknown;
}

interface Context {
  readonly fields: ContextFields;
  readonly secrets: readonly string[];
}

const storage = new AsyncLocalStorage<Context>();
const empty: Context = Object.freeze({ fields: Object.freeze({}), secrets: Object.freeze([]) });

/** The fields of the running asynchronous task; empty outside {@link runWithContext}. */
export function currentContext(): ContextFields {
  return (storage.getStore() ?? empty).fields;
}

/** The secrets that no line of the running task may show. */
export function currentSecrets(): readonly string[] {
  return (storage.getStore() ?? empty).secrets;
}

/**
 * Calls `run` with `fields` merged over those of the outer context, and returns its result. Everything that `run`
 * starts, including timers and promises, sees the merged context; the caller keeps its context. A field that is
 * undefined keeps the outer value.
 *
 * @param options.secrets values that no line of this context may show, such as the token of one request; they add up
 *
 * @example
 * await runWithContext({ order_id: order.id }, async () => {
 *   logger.log('order.ship');   // carries order_id
 * });
 */
export function runWithContext<T>(
  fields: ContextFields,
  run: () => T,
  options: { readonly secrets?: readonly string[] | undefined } = {},
): T {
  const outer = storage.getStore() ?? empty;
  const merged: Record<string, unknown> = { ...outer.fields };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && name !== '__proto__') merged[name] = value;
  }
  const { secrets = [] } = options;
  return storage.run(
    Object.freeze({
      fields: Object.freeze(merged),
      secrets: secrets.length === 0 ? outer.secrets : [...outer.secrets, ...secrets],
    }),
    run,
  );
}
