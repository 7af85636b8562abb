import type { Readable, Writable } from 'node:stream';
import type { PackageGenerator } from '@svc/pkg-format';
import type { Dispatcher } from 'undici';

/** Where `npm start` listens. */
export const DEFAULT_API_URL = 'http://127.0.0.1:8080';
export const API_URL_VARIABLE = 'SVC_API_URL';
export const API_KEY_VARIABLE = 'SVC_API_KEY';

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
  /** Sends the HTTP requests; made for the first one. */
  dispatcher(): Promise<Dispatcher>;
  /** Adds the commands that read a database; null for none. */
  readonly database: DatabasePort | null;
  /** The name of a program that has a database too; default `svc-pkg`. */
  readonly program?: 'svc-admin';
  /** Version of this program. */
  readonly version: string;
}

export interface Cli extends CliContext {
  /** `--json`: one JSON document on standard output, errors as one on standard error. */
  readonly json: boolean;
  /** `--quiet`: no progress, no hints, no report. */
  readonly quiet: boolean;
  /** Sets the exit code of a command that ends without an error but not with "done". */
  endWith(exitCode: number): void;
}

/** What commands need of a database. */
export interface DatabasePort {
  /**
   * Migrates the database to this version; returns the names of the applied migrations.
   *
   * @param distributed also spreads the large tables over the nodes of Citus; `distributed` of the outcome names them
   */
  migrate(
    url: string,
    options: { readonly distributed: boolean },
  ): Promise<{ readonly applied: readonly string[]; readonly distributed: readonly string[] }>;
  /**
   * Opens the export of a dataset and one of its runs. `dataset` is an id, a handle or a unique name, `version` a
   * number or digits of a version hash.
   *
   * @throws StoreError `dataset_not_found`, `version_not_found`, `ambiguous_version`, `run_not_found`, `run_incomplete`, `unavailable`; CliError `dataset_ambiguous`
   */
  openExport(
    url: string,
    request: DatasetReference & {
      readonly runId: string | undefined;
      readonly allowIncomplete: boolean;
      readonly signal: AbortSignal;
    },
  ): Promise<Download>;
}

/** A package that is being downloaded. Disposing closes its source. */
export interface Download extends AsyncDisposable {
  readonly datasetId: string;
  /** A safe file name that the source proposes; null if it proposes none. */
  readonly fileName: string | null;
  /** Null if unknown. */
  readonly byteLength: number | null;
  /** Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The members of an object that are not undefined. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** This program, as the packages that it writes name it. */
export const generatorOf = ({ version }: Pick<CliContext, 'version'>): PackageGenerator => ({
  name: 'svc-pkg',
  version,
});

/** The dataset that a command line names, and perhaps one of its versions. */
export interface DatasetReference {
  /** Id, handle or name. */
  readonly dataset: string;
  /** Number, or at least 8 digits of a version hash; undefined for the newest. */
  readonly version?: string | undefined;
}
