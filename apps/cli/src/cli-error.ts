import type { Place } from '@svc/jsonl-v23';

/** The codes that the command line adds to those of the packages and of the service. */
export type CliErrorCode =
  | 'usage'
  | 'io_error'
  | 'output_exists'
  | 'service_unreachable'
  | 'connection_lost'
  | 'bad_response'
  | 'dataset_not_found'
  | 'dataset_ambiguous'
  | 'job_ended'
  | 'interrupted'
  | 'terminated'
  | 'broken_pipe'
  | 'fault';

/** What this program itself could not do; `place.file` is the file at fault. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly place: Place;

  constructor(code: CliErrorCode, message: string, options: { place?: Place; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.place = options.place ?? {};
  }
}
