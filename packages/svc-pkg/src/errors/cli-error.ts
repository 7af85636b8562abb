import type { SourceLocation } from '@svc/jsonl-v23';

/** The error codes of the command line itself, with their text in docs/cli.md. */
export const CLI_ERROR_CODES = {
  usage: 'the command line is invalid; see `--help`',
  io_error: 'a file cannot be read or written; the message says why',
  output_exists: 'the output already exists; choose another one, or replace it with `--force`',
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
  database_refused: 'the database refuses the login; check the user and the password',
  database_not_found: 'the server has no database of this name',
  database_not_migrated: 'the schema of the database is older; run `svc-pkg migrate`',
  not_confirmed: 'the name that you typed is another one; nothing was changed',
  interrupted: 'SIGINT',
  terminated: 'SIGTERM',
  broken_pipe: 'the reader of standard output closed it; nothing is printed',
  fault: 'an internal error; please report it with the message',
} as const;

export type CliErrorCode = keyof typeof CLI_ERROR_CODES;

/** One of the causes of an error, and how often it occurred. */
export interface CliErrorDetail {
  readonly code: string;
  readonly message: string;
  readonly count: number;
}

/** An error of the command line itself; `location.file` is the file it is about. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly location: SourceLocation;
  readonly errors: readonly CliErrorDetail[];
  /** Names the next command. */
  readonly hint: string | undefined;

  constructor(
    code: CliErrorCode,
    message: string,
    options: {
      location?: SourceLocation;
      cause?: unknown;
      errors?: readonly CliErrorDetail[];
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
