import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';

/** An account of the system. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface SpawnOptions {
  /** Working directory, entered before the account changes: the account need not be able to reach it. */
  readonly cwd: string;
  /** Whether it gets a separate session and process group. */
  readonly detached?: boolean;
  readonly stdio: StdioOptions;
}

/** Starts a program under an account, without the environment of this process except the search path. */
export function spawnAs(
  account: Account | null,
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  return spawn(program, args, {
    ...options,
    // Node drops all supplementary groups, and the kernel all capabilities.
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    // messages in English, whatever the user's language: explain() reads them
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', SystemRoot: process.env['SystemRoot'] },
  });
}

/** The outcome of a program. */
export interface Ended {
  /** Null when the program did not start or a signal ended it. */
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Waits for a program whose output and errors are pipes. */
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

/** Runs a system program to its end, under the account of this process. */
export function runToEnd(program: string, args: readonly string[], cwd = '/'): Promise<Ended> {
  return outcomeOf(spawnAs(null, program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] }));
}
