import type { SourceLocation } from '@svc/jsonl-v23';

/** The codes that the command line adds to those of the packages and of the service, as docs/cli.md says them. */
export const CLI_ERROR_CODES = {
  usage: 'the command line cannot be understood; see `--help`',
  io_error: 'a file cannot be read or written; the reason stands in the message',
  output_exists: 'the output is there already; name another one, or replace it with `--force`',
  service_unreachable: 'no connection to the service; is it running, is `--api-url` right?',
  connection_lost:
    'the connection broke off; nothing of an output is left, and an upload was stored whole or not at all',
  bad_response: 'the answer is not one of this service; often a proxy, or another server',
  dataset_not_found: 'no dataset has this name',
  dataset_ambiguous: 'several datasets have this name; use an id',
  job_ended: 'the job of an import in the background was cancelled',
  interrupted: 'SIGINT',
  terminated: 'SIGTERM',
  broken_pipe: 'the reader of standard output went away; nothing is printed',
  fault: 'a fault of this program; please report it with the message',
} as const;

export type CliErrorCode = keyof typeof CLI_ERROR_CODES;

/** What this program itself could not do; `place.file` is the file at fault. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly location: SourceLocation;

  constructor(
    code: CliErrorCode,
    message: string,
    options: { location?: SourceLocation; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.location = options.location ?? {};
  }
}
