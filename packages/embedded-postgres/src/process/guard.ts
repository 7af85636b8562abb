import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './postgres-account.ts';
import { spawnAs } from './spawn-as.ts';

/** Ends what was started through it when this process dies, in whatever way and at whatever moment. */
export interface Guard {
  /**
   * Starts a program under the account of the guard, in a process group of its own. When this process dies, the group
   * gets the signal. One program at a time: the one started last is guarded.
   *
   * @param cwd folder that the program works in
   * @param stdio standard output and standard error
   * @param signal sent to the group: INT is PostgreSQL's fast shutdown
   */
  spawn(
    program: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly stdio: readonly ['pipe' | number, 'pipe' | number] },
    signal: 'INT' | 'KILL',
  ): ChildProcess;
  /** Lets the program that has ended go: its number may become another's. */
  clear(): void;
  /** Ends the guard; what it guarded goes on. */
  close(): void;
}

/**
 * Reads the signal and the process group of what it guards, line by line; a line without them clears. The end of the
 * input means that everybody who held the other end is gone: this process, and a launcher that has not reported yet.
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
 * Reports itself to the guard before it becomes the program: there is no moment in which a program runs that the guard
 * does not know of. The folder is the program's own and closed to others, which PostgreSQL insists on. A lower priority keeps
 * searches over large items from delaying the answers of this process on the same few cores.
 */
const LAUNCH = 'chmod 700 . && echo "$0 $$" >&3 && exec nice -n 10 "$@" 3>&-';

/**
 * Starts a guard. Windows has no shell for it: there the next start stops a server that was left behind.
 *
 * @param dataDir what it guards, for those who look at the list of processes
 * @param removed a folder that it removes when this process dies, after the end of what it guards
 */
export function startGuard(account: Account | null, dataDir: string, removed = ''): Guard {
  if (process.platform === 'win32') return withoutGuard(account);
  const watch = spawnAs(account, 'sh', ['-c', WATCH, removed, dataDir], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const input = watch.stdin;
  watch.once('error', () => undefined);
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
    close: () => void watch.kill('SIGKILL'),
  };
}

function withoutGuard(account: Account | null): Guard {
  return {
    spawn: (program, args, { cwd, stdio }) =>
      spawnAs(account, program, args, { cwd, detached: true, stdio: ['ignore', ...stdio] }),
    clear: () => undefined,
    close: () => undefined,
  };
}

/** Ends a program and everything that it started, at once. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** Waits, but no longer than until the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
