import { RunError } from '@svc/evaluation';
import { HubError, type HubErrorCode } from '@svc/hub-client';
import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';
import type { Redactor } from '@svc/observability';
import { PackageError, type PackageErrorCode } from '@svc/pkg-format';
import { type FieldError, RequestError, type RequestErrorCode } from '@svc/runtime';
import { StoreError, type StoreErrorCode } from '@svc/store';

/** Every code of every package that a request can meet. */
type AnyErrorCode =
  | RequestErrorCode
  | JsonlErrorCode
  | PackageErrorCode
  | HubErrorCode
  | Exclude<StoreErrorCode, 'corrupt'>
  | 'worker_lost'
  | 'internal';

interface Row {
  readonly status: number;
  readonly title: string;
  /** the code of the answer, where several causes share one */
  readonly code?: string;
}

const LINE: Row = { status: 400, title: 'A row cannot be used', code: 'invalid_row' };

const UNAVAILABLE: Row = {
  status: 503,
  title: 'The service cannot do this at the moment',
  code: 'unavailable',
};

/**
 * The one table from codes to HTTP. A code that is missing here does not compile.
 * Titles are fixed sentences; what went wrong this time stands in `detail`.
 */
export const PROBLEM_ROWS: Readonly<Record<AnyErrorCode, Row>> = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_split: { status: 400, title: 'The split cannot be used' },
  invalid_cursor: { status: 400, title: 'The cursor is not one of ours' },
  column_not_found: { status: 400, title: 'A mapped column is missing' },
  assets_not_object: { status: 400, title: 'The assets are no object' },
  invalid_row: LINE,
  invalid_mapping: { status: 400, title: 'The mapping cannot be used', code: 'invalid_request' },
  invalid_utf8: LINE,
  duplicate_key: LINE,
  nesting_too_deep: LINE,
  number_too_long: LINE,
  line_too_long: LINE,
  not_an_object: LINE,
  invalid_item: LINE,
  invalid_asset: LINE,
  package_no_sections: { status: 400, title: 'The package has no sections' },
  package_invalid_json: { status: 400, title: 'A file of the package is not valid JSON' },
  package_invalid_line: { status: 400, title: 'A line of the package is not an item' },
  package_not_a_zip: { status: 400, title: 'The file is not a zip archive' },
  package_unsafe_entry: { status: 400, title: 'The package has an entry with an unsafe name' },
  package_corrupt: { status: 400, title: 'The package is damaged' },
  package_hash_mismatch: { status: 400, title: 'The package does not hold what its manifest states' },
  package_missing_file: { status: 400, title: 'A file that an item names is not in the package' },
  package_unsupported: { status: 400, title: 'The package uses a feature that is not supported' },
  package_limit: { status: 400, title: 'The package is beyond a limit' },
  hub_unsupported_dataset: { status: 400, title: 'The hub dataset cannot be read' },
  unauthenticated: { status: 401, title: 'A key is needed' },
  forbidden: { status: 403, title: 'The key does not allow this' },
  cross_origin: { status: 403, title: 'The page may not make this request' },
  hub_gated: { status: 403, title: 'The hub gives this dataset only to approved users' },
  not_found: { status: 404, title: 'There is nothing here' },
  dataset_not_found: { status: 404, title: 'There is no such dataset' },
  run_not_found: { status: 404, title: 'There is no such run' },
  job_not_found: { status: 404, title: 'There is no such job' },
  hub_dataset_not_found: { status: 404, title: 'The hub has no such dataset' },
  hub_revision_not_found: { status: 404, title: 'The hub dataset has no such revision' },
  hub_split_not_found: { status: 404, title: 'The hub dataset has no such split' },
  hub_subset_not_found: { status: 404, title: 'The hub dataset has no such subset' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  not_acceptable: { status: 406, title: 'The answer has another media type' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  idempotency_key_reused: { status: 409, title: 'The idempotency key belongs to another request' },
  run_finished: { status: 409, title: 'The run has ended' },
  job_finished: { status: 409, title: 'The job has ended' },
  item_too_large: { status: 409, title: 'An item is too large to be read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  upload_too_large: { status: 413, title: 'The upload is too large' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  misdirected_request: { status: 421, title: 'The request is for another host' },
  rate_limited: { status: 429, title: 'Too many requests' },
  worker_lost: { status: 500, title: 'The workers that took it died' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  hub_unavailable: { status: 502, title: 'The hub cannot be reached' },
  hub_bad_response: { status: 502, title: 'The hub answered something unusable' },
  unavailable: UNAVAILABLE,
  superseded: UNAVAILABLE,
  database_unsupported: UNAVAILABLE,
  migration_failed: UNAVAILABLE,
  hub_rate_limited: { status: 503, title: 'The hub asks to wait' },
  hub_timeout: { status: 504, title: 'The hub took too long' },
};

/** Where each code is explained. */
const DOCUMENTATION = 'https://github.com/svc-data/svc/blob/main/docs/errors.md';

/** At most this many errors stand in one body. */
const MAX_ERRORS = 100;

/** An error as an answer: the members of RFC 9457 and ours. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly request_id: string;
  readonly errors?: FieldError[];
  readonly errors_total?: number;
  readonly [key: string]: FieldError[] | string | number | undefined;
}

/**
 * Turns any error into an answer. Errors of ours say what was wrong; any other is a fault of ours, and its
 * answer says nothing of it.
 *
 * @param error what was thrown
 * @param at the request's path and id
 * @param redact takes out what no answer may repeat: a key that was pasted into a path or a body by mistake would
 *   go on from there, into tickets and logs of others
 */
export function toProblem(
  error: unknown,
  at: { readonly instance: string; readonly requestId: string },
  redact: Redactor = (text) => text,
): Problem {
  const known = describe(error);
  const told = {
    ...known,
    detail: redact(known.detail),
    errors: known.errors.slice(0, MAX_ERRORS).map((one) => redacted(one, redact)),
    errorsTotal: known.errorsTotal ?? known.errors.length,
  };
  return problemOf(told, { ...at, instance: redact(at.instance) });
}

const redacted = ({ message, path, file, ...location }: FieldError, redact: Redactor): FieldError => ({
  message: redact(message),
  ...(path === undefined ? {} : { path: redact(path) }),
  ...(file === undefined ? {} : { file: redact(file) }),
  ...location,
});

/**
 * An error that a task of the queue kept, `{code, message, errors}` as JSON text, as the body that a request would
 * have been answered with.
 */
export function serializeProblem(
  text: string,
  at: { readonly instance: string; readonly requestId: string },
): ProblemBody {
  const kept = JSON.parse(text) as { code: string; message: string; errors?: readonly FieldError[] };
  const code = Object.hasOwn(PROBLEM_ROWS, kept.code) ? (kept.code as AnyErrorCode) : 'internal';
  return problemOf({ code, detail: kept.message, errors: kept.errors ?? [], headers: {} }, at).body;
}

function problemOf(known: ErrorView, at: { readonly instance: string; readonly requestId: string }): Problem {
  const row = PROBLEM_ROWS[known.code];
  const code = row.code ?? known.code;
  const errors = known.errors.slice(0, MAX_ERRORS);
  return {
    status: row.status,
    headers: known.headers,
    body: {
      type: `${DOCUMENTATION}#${code}`,
      title: row.title,
      status: row.status,
      detail: known.detail,
      instance: at.instance,
      code,
      request_id: at.requestId,
      ...(errors.length === 0 ? {} : { errors, errors_total: known.errorsTotal ?? known.errors.length }),
    },
  };
}

/** Whether this error is a fault of ours, to be logged with its cause. */
export function isInternalError(error: unknown): boolean {
  return describe(error).code === 'internal';
}

/** Whether something that the service needs is away or full: no fault of ours, but of interest to the operator. */
export function isOutage(error: unknown): boolean {
  if (describe(error).code !== 'unavailable') return false;
  return isResourceExhausted(error) || (error as { cause?: unknown }).cause !== undefined;
}

/** What the system says when a disk, a quota, the size of a file or the number of open files is at its end. */
const OUT_OF_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE']);
const isResourceExhausted = (error: unknown): boolean =>
  error instanceof Error && OUT_OF_ROOM.has((error as { code?: unknown }).code);

interface ErrorView {
  readonly code: AnyErrorCode;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly errorsTotal?: number;
  readonly headers: Readonly<Record<string, string>>;
}

function describe(error: unknown): ErrorView {
  if (error instanceof RequestError) {
    return { code: error.code, detail: error.message, errors: error.errors, headers: error.headers };
  }
  if (error instanceof JsonlError || error instanceof PackageError) {
    return {
      code: error.code,
      detail: error.message,
      errors: located(error.message, error.location),
      headers: {},
    };
  }
  if (error instanceof HubError) {
    return {
      code: error.code,
      detail: error.message,
      errors: located(error.message, error.location),
      headers: retryAfter(error.details?.retryAfterMs, error.code === 'hub_rate_limited'),
    };
  }
  if (error instanceof RunError && error.code === 'invalid_request') {
    return { code: error.code, detail: error.message, errors: error.errors, headers: {} };
  }
  if (error instanceof StoreError && error.code !== 'corrupt') {
    const { code, message } = error;
    const headers = retryAfter(undefined, PROBLEM_ROWS[code].status === 503);
    return { code, detail: message, errors: [], headers };
  }
  if (isResourceExhausted(error)) {
    return {
      code: 'unavailable',
      detail: 'There is no room for this at the moment.',
      errors: [],
      headers: { 'Retry-After': '10' },
    };
  }
  return {
    code: 'internal',
    detail: 'The request could not be completed. The request id tells the operator where to look.',
    errors: [],
    headers: {},
  };
}

function located(message: string, location: SourceLocation | undefined): readonly FieldError[] {
  if (location === undefined) return [];
  const { file, line, column, path, row } = location;
  if ([file, line, column, path, row].every((part) => part === undefined)) return [];
  return [
    {
      message,
      ...(path === undefined ? {} : { path }),
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
      ...(row === undefined ? {} : { row }),
    },
  ];
}

function retryAfter(ms: number | undefined, always: boolean): Readonly<Record<string, string>> {
  if (ms === undefined && !always) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil((ms ?? 1000) / 1000))) };
}
