import type { SourceLocation } from '@svc/jsonl-v23';

/** The error codes of the command line itself, with their text in docs/cli.md. */
export const CLI_ERROR_CODES = {
  usage: 'the command line is invalid; see `--help`',
  io_error: 'a file cannot be read or written; the message says why',
  output_exists: 'the output already exists; choose another one, or replace it with `--force`',
  package_unreadable: 'the file to verify is no package, or its archive is damaged; the message says why',
  service_unreachable: 'cannot connect to the service; check that it runs and that `--api-url` is right',
  connection_lost:
    'the connection was lost; no partial output is left, and an upload was stored completely or not at all',
  bad_response: 'the response is not from this service; often it is from a proxy or another server',
  dataset_not_found: 'no dataset has this name',
  dataset_ambiguous: 'several datasets have this name; use an id',
  item_not_found: 'no item of the newest version has this id',
  item_ambiguous: 'several items have this id; name their section, or use their hashes in a file',
  job_ended: 'the job of an import was cancelled',
  run_failed: 'the run failed or was cancelled; its results so far are stored',
  run_stopped: 'the budget of the run stopped it; its results so far are stored',
  items_failed: 'more items of the run failed than `--max-failed` allows, or all',
  score_too_low: 'the mean score of the run is lower than `--min-score`, or there is none',
  baseline_not_found: 'no completed run of the dataset has this label',
  baseline_unusable: 'the baseline has not completed, or has no scores',
  nothing_to_compare: 'the baseline and the run have no items in common that both have scored',
  nothing_to_plan:
    'the scores of the baseline are all equal and neither 0 nor 1, or there are fewer than two',
  not_detectable:
    'the items of the dataset, run 100 times each, do not see the drop; the message says what they see',
  database_refused:
    'the database refuses the login or the TLS; check the user, the password, `sslmode` and `sslrootcert`',
  database_not_found: 'the server has no database of this name',
  database_not_migrated: 'the schema of the database is older; run `svc-admin migrate`',
  writes_refused: 'a tool of `mcp` that changes something was called without `--allow-writes`',
  not_confirmed: 'the name that you typed is another one; nothing was changed',
  interrupted: 'SIGINT',
  terminated: 'SIGTERM',
  broken_pipe: 'the reader of standard output closed it; nothing is printed',
  fault: 'an internal error; please report it with the message',
} as const;

export type CliErrorCode = keyof typeof CLI_ERROR_CODES;

/** One of the causes of an error, such as those that the service lists for a request. */
export interface FieldError extends SourceLocation {
  readonly message: string;
  readonly code?: string;
  readonly count?: number;
}

/** An error of the command line itself; `location.file` is the file it is about. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly location: SourceLocation;
  readonly errors: readonly FieldError[];
  readonly hint: string | undefined;

  constructor(
    code: CliErrorCode,
    message: string,
    options: {
      location?: SourceLocation;
      cause?: unknown;
      errors?: readonly FieldError[];
      hint?: string;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.location = options.location ?? {};
    this.errors = options.errors ?? [];
    this.hint = options.hint;
  }
}

export const usageError = (message: string, options?: ConstructorParameters<typeof CliError>[2]): CliError =>
  new CliError('usage', message, options);

interface ServiceErrorDetails {
  readonly status: number;
  readonly errors: readonly FieldError[];
  /** How many errors there are; `errors` has at most the first 100. */
  readonly errorsTotal: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** An error that the service returned, with its stable code (docs/errors.md). */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly details: ServiceErrorDetails;

  constructor(code: string, message: string, details: ServiceErrorDetails) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The exit codes of `svc-pkg` with their meanings in `--help` and docs/cli.md. */
const EXITS = {
  done: [0, 'done'],
  failed: [1, 'the archive is invalid, `check` found something, items of a run failed, or a request failed'],
  usage: [2, 'wrong usage: an unknown option, a missing argument, an invalid value'],
  inputOutput: [
    3,
    'a file cannot be read or written, the output already exists, or `verify` finds no package',
  ],
  budgetSpent: [4, 'the budget of a run stopped it'],
  worse: [10, '`gate`: the run is worse than its baseline; `verify`: something differs'],
  undecided: [11, '`gate`: too few items or repetitions to decide'],
  tooFew: [
    12,
    '`gate`: people have labelled fewer results than `--min-labels`; `plan`: no number of repetitions sees the drop',
  ],
  fault: [70, 'an internal error'],
  interrupted: [130, 'interrupted (SIGINT)'],
  brokenPipe: [141, 'broken pipe'],
  terminated: [143, 'terminated (SIGTERM)'],
} as const;

type Exits = typeof EXITS;
type ExitCode = Exits[keyof Exits][0];

export const EXIT = Object.fromEntries(Object.entries(EXITS).map(([name, [code]]) => [name, code])) as {
  readonly [Name in keyof Exits]: Exits[Name][0];
};

export const EXIT_CODES = Object.values(EXITS).map(([code, meaning]) => ({ code, meaning }));

/** Error codes with another exit code than "failed". */
const BY_ERROR_CODE: ReadonlyMap<string, ExitCode> = new Map([
  ['usage', EXIT.usage],
  ['io_error', EXIT.inputOutput],
  ['output_exists', EXIT.inputOutput],
  ['package_unreadable', EXIT.inputOutput],
  ['run_stopped', EXIT.budgetSpent],
  ['not_detectable', EXIT.tooFew],
  ['fault', EXIT.fault],
  ['interrupted', EXIT.interrupted],
  ['broken_pipe', EXIT.brokenPipe],
  ['terminated', EXIT.terminated],
]);

export function exitCodeOf(errorCode: string): ExitCode {
  return BY_ERROR_CODE.get(errorCode) ?? EXIT.failed;
}

/** The operating system's error names in words (errno(3)). */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it already exists',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'the file would be too large',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
  EIO: 'the device failed',
};

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code))
  );
}

/** Does something with a file. @throws CliError `io_error` for an error of the operating system */
export async function withFileErrors<T>(
  action: 'read' | 'write',
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFileError(error, action, path);
  }
}

/** Turns an error of the operating system into `io_error`; returns any other error unchanged. */
export function toFileError(error: unknown, action: 'read' | 'write', path: string): unknown {
  if (!isSystemError(error)) return error;
  const name = String(error.code);
  const reason = REASONS[name];
  return new CliError('io_error', `Cannot ${action} the file: ${reason ?? name}`, {
    location: { file: path },
    cause: error,
  });
}
