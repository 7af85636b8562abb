import { HubError, type HubErrorCode } from '@svc/hub-client';
import { JsonlError, type JsonlErrorCode } from '@svc/jsonl-v23';
import { PackageError, type PackageErrorCode } from '@svc/pkg-format';
import {
  classifyHttpError,
  type ErrorView,
  type FieldError,
  HTTP_PROBLEM_ROWS,
  type ProblemBody,
  type ProblemRow,
  problem,
  type RequestErrorCode,
} from '@svc/service';
import { RunError } from '@svc/service/evaluation';
import { ImportErrors, UploadError } from '@svc/service/flows';
import { StoreError, type StoreErrorCode } from '@svc/service/store';

type AnyErrorCode =
  | RequestErrorCode
  | JsonlErrorCode
  | PackageErrorCode
  | HubErrorCode
  | Exclude<StoreErrorCode, 'corrupt'>
  | UploadError['code']
  | 'worker_lost'
  | 'nothing_to_score'
  | 'internal';

const INVALID_ROW: ProblemRow = { status: 400, title: 'Invalid row', code: 'invalid_row' };
const UNAVAILABLE: ProblemRow = { ...HTTP_PROBLEM_ROWS.unavailable, code: 'unavailable' };

/** The table from codes to HTTP. A code that is missing here does not compile. */
export const PROBLEM_ROWS: Readonly<Record<AnyErrorCode, ProblemRow>> = {
  ...HTTP_PROBLEM_ROWS,
  invalid_split: { status: 400, title: 'Invalid split' },
  invalid_cursor: { status: 400, title: 'Invalid cursor' },
  column_not_found: { status: 400, title: 'Mapped column not found' },
  assets_not_object: { status: 400, title: '`assets` must be an object' },
  invalid_row: INVALID_ROW,
  invalid_mapping: { ...HTTP_PROBLEM_ROWS.invalid_request, code: 'invalid_request' },
  invalid_utf8: INVALID_ROW,
  duplicate_key: INVALID_ROW,
  nesting_too_deep: INVALID_ROW,
  number_too_long: INVALID_ROW,
  line_too_long: INVALID_ROW,
  not_an_object: INVALID_ROW,
  invalid_item: INVALID_ROW,
  invalid_asset: INVALID_ROW,
  missing_file: INVALID_ROW,
  mapping_required: { status: 400, title: 'Mapping required' },
  unsupported_file: { status: 400, title: 'Unsupported file' },
  package_no_sections: { status: 400, title: 'Package has no sections' },
  package_invalid_json: { status: 400, title: 'Invalid JSON file in the package' },
  package_invalid_line: { status: 400, title: 'Invalid line in the package' },
  package_not_a_zip: { status: 400, title: 'Not a zip archive' },
  package_unsafe_entry: { status: 400, title: 'Unsafe entry name in the package' },
  package_corrupt: { status: 400, title: 'Corrupt package' },
  package_hash_mismatch: { status: 400, title: 'Package content does not match its manifest' },
  package_missing_file: { status: 400, title: 'File missing from the package' },
  package_unsupported: { status: 400, title: 'Unsupported package feature' },
  package_limit: { status: 400, title: 'Package exceeds a limit' },
  ambiguous_version: { status: 400, title: 'Ambiguous version' },
  ambiguous_id: { status: 400, title: 'Ambiguous item' },
  hub_unsupported_dataset: { status: 400, title: 'Unsupported hub dataset' },
  hub_gated: { status: 403, title: 'Gated hub dataset' },
  dataset_not_found: { status: 404, title: 'Dataset not found' },
  run_not_found: { status: 404, title: 'Run not found' },
  job_not_found: { status: 404, title: 'Job not found' },
  section_not_found: { status: 404, title: 'Section not found' },
  type_not_found: { ...HTTP_PROBLEM_ROWS.not_found, code: 'not_found' },
  item_not_found: { status: 404, title: 'Item not found' },
  version_not_found: { status: 404, title: 'Version not found' },
  asset_not_found: { ...HTTP_PROBLEM_ROWS.not_found, code: 'not_found' },
  hub_dataset_not_found: { status: 404, title: 'Hub dataset not found' },
  hub_revision_not_found: { status: 404, title: 'Hub revision not found' },
  hub_split_not_found: { status: 404, title: 'Hub split not found' },
  hub_subset_not_found: { status: 404, title: 'Hub subset not found' },
  idempotency_key_reused: { status: 409, title: 'Idempotency key already used' },
  nothing_to_score: { status: 400, title: 'No item can be scored' },
  run_finished: { status: 409, title: 'Run already finished' },
  run_active: { status: 409, title: 'Run not finished' },
  run_imported: { status: 409, title: 'Imported run' },
  run_not_external: { status: 409, title: 'Run takes no results from outside' },
  run_incomplete: { status: 409, title: 'Run incomplete' },
  too_many_scorers: { status: 409, title: 'Too many scorers' },
  scorer_exists: { status: 409, title: 'Scorer exists' },
  scorer_not_found: { status: 400, title: 'Scorer not found' },
  nothing_to_retry: { status: 409, title: 'Nothing to retry' },
  nothing_to_label: { status: 409, title: 'Nothing to label' },
  result_not_found: { ...HTTP_PROBLEM_ROWS.not_found, code: 'not_found' },
  job_finished: { status: 409, title: 'Job already finished' },
  handle_taken: { status: 409, title: 'Handle taken' },
  dataset_exists: { status: 409, title: 'Dataset exists' },
  version_has_runs: { status: 409, title: 'Version has runs' },
  newest_version: { status: 409, title: 'Newest version' },
  version_changed: { status: 412, title: 'Version changed' },
  item_too_large: { status: 409, title: 'Item too large' },
  asset_missing: { status: 500, title: 'Asset missing from the object storage' },
  worker_lost: { status: 500, title: 'The worker stopped before the job finished' },
  hub_unavailable: { status: 502, title: 'Hub unavailable' },
  hub_bad_response: { status: 502, title: 'Unexpected response from the hub' },
  superseded: UNAVAILABLE,
  database_unsupported: UNAVAILABLE,
  migration_failed: UNAVAILABLE,
  hub_rate_limited: { status: 503, title: 'Rate limited by the hub' },
  hub_timeout: { status: 504, title: 'Hub timeout' },
};

export const codesOf = (prefix: string): readonly string[] =>
  Object.keys(PROBLEM_ROWS).filter((code) => code.startsWith(prefix));

/** Turns any error into what clients may see of it. The text of an error that is not known here stays in the log. */
export function classify(error: unknown): ErrorView {
  if (error instanceof ImportErrors) {
    const view = viewOf(error, error.errors.flatMap(locate), {});
    return { ...view, errorsTotal: error.total };
  }
  if (error instanceof UploadError) {
    return viewOf(error, [...locate(error), ...error.entries], {});
  }
  if (error instanceof JsonlError || error instanceof PackageError) {
    return viewOf(error, locate(error), {});
  }
  if (error instanceof HubError) {
    const headers = retryAfter(error.details?.retryAfterMs, error.code === 'hub_rate_limited');
    return { ...viewOf(error, locate(error), headers), available: error.details?.available };
  }
  if (error instanceof RunError && (error.code === 'invalid_request' || error.code === 'nothing_to_score')) {
    return viewOf({ code: error.code, message: error.message }, error.errors, {});
  }
  if (error instanceof StoreError && error.code !== 'corrupt') {
    const { code, message, retryAfterMs, path, reason } = error;
    const errors = path === undefined ? [] : [{ message, path }];
    const view = viewOf(
      { code, message },
      errors,
      retryAfter(retryAfterMs, PROBLEM_ROWS[code].status === 503),
    );
    return { ...view, missing: error.missing, reason };
  }
  return classifyHttpError(error);
}

/** The problem that a request would have got, of the error that a failed job stored as JSON text. */
export function serializeProblem(
  text: string,
  at: { readonly instance: string; readonly requestId: string },
): ProblemBody {
  const stored = JSON.parse(text) as StoredProblem;
  const code = Object.hasOwn(PROBLEM_ROWS, stored.code) ? (stored.code as AnyErrorCode) : 'internal';
  const view = viewOf({ code, message: stored.message }, stored.errors ?? [], {});
  return problem({ ...view, errorsTotal: stored.errors_total }, at);
}

interface StoredProblem {
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly FieldError[];
  readonly errors_total?: number;
}

function viewOf(
  { code, message }: { readonly code: AnyErrorCode; readonly message: string },
  errors: readonly FieldError[],
  headers: Readonly<Record<string, string>>,
): ErrorView {
  return {
    code,
    row: PROBLEM_ROWS[code],
    detail: sentence(message),
    errors: errors.map((error) => ({ ...error, message: sentence(error.message) })),
    headers,
  };
}

/** A message with its full stop. Messages of lines and rows have none, so that a program can continue them. */
export const sentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);

function locate({
  code,
  message,
  location = {},
}: JsonlError | PackageError | HubError | UploadError): readonly FieldError[] {
  const isNowhere = Object.values(location).every((part) => part === undefined);
  return isNowhere ? [] : [{ code, message, ...location }];
}

function retryAfter(ms: number | undefined, always: boolean): Readonly<Record<string, string>> {
  if (ms === undefined && !always) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil((ms ?? 1000) / 1000))) };
}
