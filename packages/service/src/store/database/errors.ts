import { ConnectError, type ConnectReason, isRefused, isUnavailable } from '../postgres/driver-errors.ts';

/**
 * Why the database cannot be used: a reason of `ConnectReason`, or
 *
 * - `not_migrated`: it has no schema, or one that this version cannot use
 * - `full`: it has no room left; what is stored can be read
 */
export type OutageReason = ConnectReason | 'not_migrated' | 'full';

/** What each reason means and what to do, without where the database is: anybody may read it. */
const OUTAGES: Readonly<Record<OutageReason, string>> = {
  unreachable:
    'The database cannot be reached at the moment. Check that it runs, and the host and port of DATABASE_URL.',
  refused:
    'The database refuses the service. Check the user, the password, the name of the database and its rights in DATABASE_URL.',
  tls: 'The database and the service do not agree on TLS. Check sslmode and sslrootcert of DATABASE_URL.',
  not_migrated: 'The database is not migrated to this version. Run `svc-admin migrate`.',
  full: 'The database has no room left on its disk. Free some, or enlarge it; what is stored can still be read.',
};

/** Codes of {@link StoreError}. Where the HTTP contract has a code for the case, it is that very string. */
export type StoreErrorCode =
  | 'dataset_not_found' // no such row (any more)
  | 'run_not_found'
  | 'job_not_found'
  | 'section_not_found' // the dataset has no such section
  | 'item_not_found' // an edit names an item that the dataset does not have
  | 'version_not_found' // no version of this number or hash
  | 'version_changed' // the newest version is another than the change is for
  | 'version_has_runs' // it cannot be deleted
  | 'newest_version' // it cannot be deleted
  | 'ambiguous_version' // several versions of this hash
  | 'ambiguous_id' // an id, or a hash, names several items or none
  | 'handle_taken' // another dataset has the handle
  | 'dataset_exists' // of this name and content
  | 'type_not_found' // no item of the dataset has this type
  | 'asset_not_found' // the dataset refers to no such asset
  | 'asset_missing' // the object storage does not have the bytes of an asset that is stored
  | 'invalid_cursor' // a cursor that no list of this kind handed out
  | 'invalid_request' // a value that PostgreSQL cannot hold; the message names the field
  | 'item_too_large' // the request includes an item or result that is too large
  | 'run_finished' // it has already ended
  | 'run_active' // the run, or one that scores its outputs again, has not ended
  | 'run_imported' // the run came with a package and is not executed
  | 'run_not_external' // a worker writes the results of the run, not clients
  | 'run_incomplete' // results are `missing`, or the run to export is not `completed`
  | 'package_hash_mismatch' // the run of a package does not have the hash that its manifest states
  | 'too_many_scorers' // a run would have more scorers than it may
  | 'scorer_exists' // the service itself scores by this name
  | 'scorer_not_found' // the run has no such scorer
  | 'nothing_to_retry' // the run has no such results
  | 'nothing_to_label' // the result has no output
  | 'result_not_found' // the run has no such result
  | 'job_finished' // it has already ended
  | 'idempotency_key_reused' // the key was used for another request
  | 'superseded' // another worker has claimed the run, job or key
  | 'worker_lost' // at every attempt, the worker of the run or job stopped before finishing
  | 'corrupt' // stored JSON is damaged; the cause says where
  | 'unavailable' // the database cannot be reached, has no room, took too long or is busy; try again later
  | 'database_unsupported' // the server is too old or not UTF-8, or a version before the first release made the database
  | 'migration_failed'; // the schema could not be brought up to date

/** An error of the store with a stable code. Any other error that the store throws is an internal error. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly reason: OutageReason | undefined;
  readonly retryAfterMs: number | undefined;
  readonly missing: number | undefined;
  /** The member of the request that is at fault, for `invalid_request`: the name of a parameter. */
  readonly path: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    options?: ErrorOptions & {
      readonly retryAfterMs?: number;
      readonly missing?: number;
      readonly path?: string;
      readonly reason?: OutageReason;
    },
  ) {
    super(message, options);
    this.code = code;
    this.reason = options?.reason;
    this.retryAfterMs = options?.retryAfterMs;
    this.missing = options?.missing;
    this.path = options?.path;
  }
}

const NOT_MIGRATED = new Set(['42P01', '42703', '42883', '3F000']);
const FULL = '53100';

/** Turns what means that the database cannot be used into `unavailable`, with its reason; other errors stay. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  for (const cause of causesOf(error)) {
    const reason = outageOf(cause);
    if (reason !== undefined) return outage(reason, error);
    if (isUnavailable(cause)) {
      const message = EXPLANATIONS[String(cause['code'])] ?? 'The database cannot be reached at the moment.';
      return new StoreError('unavailable', message, { cause: error });
    }
  }
  return error;
}

export const outage = (reason: OutageReason, cause?: unknown): StoreError =>
  new StoreError('unavailable', OUTAGES[reason], { reason, cause });

/** What an operator should read of an error, for logs and terminals: where the database is, why, and what to do. */
export function operatorMessage(error: unknown): string {
  const { message } = error as Error;
  const found = [...causesOf(error)].find((cause) => cause instanceof ConnectError);
  return found === undefined || message.startsWith(found.message) ? message : `${found.message} ${message}`;
}

function* causesOf(error: unknown): Generator<Record<string, unknown>> {
  for (let cause: unknown = error, depth = 0; isObject(cause) && depth < 6; depth += 1) {
    yield cause;
    cause = cause['cause'] ?? firstOf(cause['errors']);
  }
}

function outageOf(error: Record<string, unknown>): OutageReason | undefined {
  if (error instanceof ConnectError) return error.reason;
  const code = String(error['code']);
  if (code === FULL) return 'full';
  if (NOT_MIGRATED.has(code)) return 'not_migrated';
  if (isRefused(code)) return 'refused';
  const isBusy = /^(?:53|57014|25006|40001|40P01|55P03)/.test(code);
  if (isBusy || !isUnavailable(error)) return undefined;
  return /^timeout exceeded/.test(String(error['message'])) ? undefined : 'unreachable';
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  '53200': 'The database has no memory left for this.',
  '53300': 'The database has no connection left for this.',
  '53400': 'The database has reached a limit of its configuration.',
  '57014': 'The database took too long for this.',
  '40001': 'The database was busy with a conflicting change.',
  '40P01': 'The database was busy with a conflicting change.',
  '55P03': 'The database was busy with a conflicting change.',
};

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export async function asStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}

type Methods = Record<string, (...args: never[]) => Promise<unknown>>;

export const guarded = <T extends object>(methods: T): T =>
  Object.fromEntries(
    Object.entries(methods as Methods).map(([name, method]) => [
      name,
      (...args: never[]) => asStoreErrors(() => method(...args)),
    ]),
  ) as T;

/** The same values, with a lost connection as StoreError `unavailable`. */
export async function* guardedStream<T>(values: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* values;
  } catch (error) {
    throw toStoreError(error);
  }
}
