import { Readable, Writable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import type { CliContext, DatabasePort } from '../src/cli-context.ts';
import { runCli } from '../src/program.ts';

/** The outcome of one command line. */
export interface Outcome {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** Standard output as one JSON document. */
  document<T = Record<string, unknown>>(): T;
  /** The error document on standard error. */
  error(): Record<string, unknown>;
}

/** A stream that keeps what is written. */
export function captured(): { stream: Writable; bytes(): Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}

const noDatabase: DatabasePort = {
  migrate: () => Promise.reject(new Error('no database in this test')),
  openExport: () => Promise.reject(new Error('no database in this test')),
};

/** Shared by all tests of a process. */
let agent: Agent | undefined;

/** Runs a command line in this process. */
export async function svcPkg(argv: readonly string[], context: Partial<CliContext> = {}): Promise<Outcome> {
  const out = captured();
  const err = captured();
  agent ??= new Agent({ connect: { timeout: 2_000 } });
  const exitCode = await runCli(argv, {
    stdout: out.stream,
    stderr: err.stream,
    stdin: Readable.from([]),
    isOutputTerminal: false,
    isTerminal: false,
    isInteractive: false,
    hasColours: false,
    platform: 'linux',
    columns: 100,
    env: {},
    signal: new AbortController().signal,
    dispatcher: async () => agent as Dispatcher,
    database: noDatabase,
    version: '9.9.9',
    ...context,
  });
  const stdout = out.bytes().toString('utf8');
  const stderr = err.bytes().toString('utf8');
  return {
    exitCode,
    stdout,
    stderr,
    document: <T>() => JSON.parse(stdout) as T,
    error: () => (JSON.parse(stderr) as { error: Record<string, unknown> }).error,
  };
}
