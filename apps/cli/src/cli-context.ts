import type { Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { DatabasePort } from './database/database-port.ts';

/** Everything outside that a command may touch. `main.ts` makes it of the process, tests of buffers. */
export interface CliContext {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** whether a person watches standard error: only then is a progress bar drawn */
  readonly isTerminal: boolean;
  /** width for help texts */
  readonly columns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** ends whatever runs; its reason is the error to end with */
  readonly signal: AbortSignal;
  /** sends the HTTP requests */
  readonly dispatcher: Dispatcher;
  readonly database: DatabasePort;
  /** of this program */
  readonly version: string;
}

/** The context of one command line. */
export interface Cli extends CliContext {
  /** `--json` was given: one JSON document on standard output, errors as one on standard error */
  readonly json: boolean;
  /** The exit code of a command that ends without an error, yet not with "done". */
  endWith(exitCode: number): void;
}
