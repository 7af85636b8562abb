import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Account } from './postgres-account.ts';

export interface SpawnOptions {
  /** Entered before the account changes: the account itself need not be able to reach it. */
  readonly cwd: string;
  /** A session and process group of its own. */
  readonly detached?: boolean;
  readonly stdio: StdioOptions;
}

/** Starts a program under an account, with nothing of our environment but the search path. */
export function spawnAs(
  account: Account | null,
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  return spawn(program, args, {
    ...options,
    // Node leaves all supplementary groups then, and the kernel takes every capability from the new account.
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    // messages in English, whatever the user's language: explain() reads them
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', SystemRoot: process.env['SystemRoot'] },
  });
}

/** What a program that has ended left. */
export interface Ended {
  /** Null: it did not start, or a signal ended it. */
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Waits for the end of a program whose output and errors are pipes. */
export function outcomeOf(child: ChildProcess): Promise<Ended> {
  return new Promise((done) => {
    let output = '';
    const add = (text: string): void => {
      output += text;
    };
    child.stdout?.setEncoding('utf8').on('data', add);
    child.stderr?.setEncoding('utf8').on('data', add);
    child.once('error', (error) => done({ code: null, output: `${output}${error.message}` }));
    child.once('close', (code) => done({ code, output }));
  });
}

/** Runs a program of the system to its end, under the account of this process. */
export function runToEnd(program: string, args: readonly string[], cwd = '/'): Promise<Ended> {
  return outcomeOf(spawnAs(null, program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] }));
}
