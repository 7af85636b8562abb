import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Without the environment of this process except the search path. `cwd` is entered before the account changes: the account
 * need not be able to reach it.
 */
export function spawnAs(
  account: Account | null,
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly detached?: boolean; readonly stdio: StdioOptions },
): ChildProcess {
  return spawn(program, args, {
    ...options,
    // Node drops all supplementary groups, and the kernel all capabilities.
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    // messages in English, whatever the user's language: explain() reads them
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', SystemRoot: process.env['SystemRoot'] },
  });
}

export interface Ended {
  /** Null when the program did not start or a signal ended it. */
  readonly code: number | null;
  readonly output: string;
}

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

/** Stops what was started through it when this process dies, in any way and at any moment. */
export interface Guard {
  /**
   * Starts a program in a separate process group, which gets the signal when this process dies (INT is PostgreSQL's fast
   * shutdown). One program at a time: the one started last is guarded. `stdio` is standard output and standard error.
   */
  spawn(
    program: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly stdio: readonly ['pipe' | number, 'pipe' | number] },
    signal: 'INT' | 'KILL',
  ): ChildProcess;
  /** Forgets the program that has ended: its process id may be reused. */
  clear(): void;
  /** Stops the guard and waits for its end; the guarded program keeps running. */
  close(): Promise<void>;
}

/**
 * Reads the signal and the process group that it guards, line by line; an empty line clears them. The end of the input
 * means that all processes with the other end are dead: this one, and a launcher that has not reported yet.
 */
const WATCH = `
while read -r a b; do signal=$a; group=$b; done
if [ -n "$group" ]; then kill -s "$signal" -- "-$group"; fi
if [ -n "$0" ]; then
  n=0
  while [ -n "$group" ] && [ $n -lt 600 ] && kill -s 0 -- "-$group" 2>/dev/null; do sleep 0.1; n=$((n+1)); done
  rm -rf -- "$0"
fi`;

/**
 * Reports itself to the guard before it becomes the program, so that the guard knows every program that runs. PostgreSQL
 * requires that only the account can enter its folder. A lower priority keeps searches over large items from delaying the
 * responses of this process on the same few cores.
 */
const LAUNCH = 'chmod 700 . && echo "$0 $$" >&3 && exec nice -n 10 "$@" 3>&-';

/**
 * Windows has no shell for it: there, the next start stops a server that was left behind. `dataDir` shows in the list of
 * processes; the guard deletes `removed` when this process dies, after the guarded program has ended.
 */
export function startGuard(account: Account | null, dataDir: string, removed = ''): Guard {
  if (process.platform === 'win32') return withoutGuard(account);
  const watch = spawnAs(account, 'sh', ['-c', WATCH, removed, dataDir], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const input = watch.stdin;
  const ended = new Promise((resolve) => {
    watch.once('exit', resolve).once('error', resolve);
  });
  input?.on('error', () => undefined);
  watch.unref();
  (input as unknown as { unref?: () => void } | null)?.unref?.();
  return {
    spawn: (program, args, { cwd, stdio }, signal) =>
      spawnAs(account, 'sh', ['-c', LAUNCH, signal, program, ...args], {
        cwd,
        detached: true,
        stdio: ['ignore', ...stdio, input],
      }),
    clear: () => void input?.write('\n'),
    close: async () => {
      watch.ref();
      if (watch.kill('SIGKILL')) await ended;
    },
  };
}

function withoutGuard(account: Account | null): Guard {
  return {
    spawn: (program, args, { cwd, stdio }) =>
      spawnAs(account, program, args, { cwd, detached: true, stdio: ['ignore', ...stdio] }),
    clear: () => undefined,
    close: async () => undefined,
  };
}

export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
