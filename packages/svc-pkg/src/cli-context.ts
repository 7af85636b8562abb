import type { Readable, Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { DatabasePort } from './database/database-port.ts';

/** Everything outside the program that a command may use: `main.ts` passes the process, tests pass buffers. */
export interface CliContext {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether standard output is a terminal: it gets no archives, and no control characters. */
  readonly isOutputTerminal: boolean;
  /** Whether standard error is a terminal: only then is there a progress bar. */
  readonly isTerminal: boolean;
  /** Whether the command may ask: standard input and standard error are a terminal. */
  readonly isInteractive: boolean;
  /** Whether standard output shows colours. */
  readonly hasColours: boolean;
  readonly platform: NodeJS.Platform;
  /** Width of help texts. */
  readonly columns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Stops the command; its reason is the error to report. */
  readonly signal: AbortSignal;
  /** Sends the HTTP requests. */
  readonly dispatcher: Dispatcher;
  /** Adds the commands that read a database; null for none. */
  readonly database: DatabasePort | null;
  /** Version of this program. */
  readonly version: string;
}

/** The context of one command line. */
export interface Cli extends CliContext {
  /** `--json`: one JSON document on standard output, errors as one on standard error. */
  readonly json: boolean;
  /** `--quiet`: no progress, no hints, no report. */
  readonly quiet: boolean;
  /** Sets the exit code of a command that ends without an error but not with "done". */
  endWith(exitCode: number): void;
}
