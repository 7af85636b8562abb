import type pg from 'pg';
import {
  connect,
  isStoppingOrStarting,
  isWrongPassword,
  MAINTENANCE_DATABASE,
  SUPERUSER,
} from '../connection/connect.ts';
import { EmbeddedPostgresError } from '../embedded-postgres-error.ts';
import type { Layout } from '../layout.ts';
import { pause } from '../process/guard.ts';
import { ownerPid, tryOwnerLock } from './owner-lock.ts';
import { findRunningServer, isAlive } from './postmaster.ts';

/** The server that may have lost its process, and how long it has to respond and to stop. */
export interface OrphanOptions {
  readonly layout: Layout;
  readonly password: string;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/**
 * Stops the server of a process that died. If the process is alive, the error names it.
 *
 * @throws EmbeddedPostgresError; the reason of the signal when it aborts
 */
export async function stopOrphan(options: OrphanOptions): Promise<void> {
  const { layout, password, deadline, signal } = options;
  for (;;) {
    signal.throwIfAborted();
    const running = await findRunningServer(layout);
    if (running === null) return;
    const login = { user: SUPERUSER, password, database: MAINTENANCE_DATABASE };
    const client = await connect(running.endpoint, login).catch((error: unknown) => {
      if (isWrongPassword(error)) throw wrongPassword(layout, error);
      return null;
    });
    if (client !== null && (await stopUnlessOwned(client, running.pid, options))) return;
    // starting, recovering or stopping: retry
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `Process ${running.pid}, a database server, is using ${layout.folder} and does not respond: stop it first.`,
      );
    }
    await pause(100, signal);
  }
}

export function wrongPassword(layout: Layout, cause: unknown): Error {
  return new EmbeddedPostgresError(
    `The password in ${layout.superuserPassword} does not match the database: restore the whole folder from one copy.`,
    cause,
  );
}

/** @returns false when another process stops the server */
async function stopUnlessOwned(client: pg.Client, pid: number, options: OrphanOptions): Promise<boolean> {
  const { layout, deadline, signal } = options;
  try {
    if (!(await tryOwnerLock(client))) {
      const owner = await ownerPid(client);
      throw new EmbeddedPostgresError(
        `${owner === null ? 'Another process' : `Process ${owner}`} is using the data folder ${layout.dataDir}: ` +
          'stop it first, or choose another folder (SVC_DATA_DIR).',
      );
    }
    interrupt(pid);
    while (isAlive(pid)) {
      signal.throwIfAborted();
      if (performance.now() > deadline)
        throw new EmbeddedPostgresError(`The database server (process ${pid}) does not stop.`);
      await pause(20, signal);
    }
    return true;
  } catch (error) {
    if (isStoppingOrStarting(error)) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Asks the server to stop, if it has not ended by itself. */
function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
