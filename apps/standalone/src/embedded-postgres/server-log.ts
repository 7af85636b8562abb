import { constants } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { explain } from './explain.ts';
import type { Layout } from './layout.ts';
import type { Account } from './process/spawn-as.ts';

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * Opens the log of the server to append to it, and empties it first when it is large.
 *
 * @throws EmbeddedPostgresError
 */
export async function openLog(layout: Layout, account: Account | null): Promise<FileHandle> {
  const size = (await stat(layout.log).catch(() => null))?.size ?? 0;
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants;
  // Root must not follow a link that the account of the server has made. Windows has no such flag.
  const flags = O_WRONLY | O_CREAT | O_APPEND | (constants.O_NOFOLLOW ?? 0);
  try {
    const log = await open(layout.log, size > MAX_LOG_BYTES ? flags | O_TRUNC : flags, 0o600);
    const found = await log.stat();
    if (!found.isFile() || found.nlink !== 1) {
      await log.close();
      throw new EmbeddedPostgresError(`${layout.log} is not a regular file: remove it.`);
    }
    if (account !== null) await log.chown(account.uid, account.gid);
    return log;
  } catch (cause) {
    throw cause instanceof EmbeddedPostgresError
      ? cause
      : new EmbeddedPostgresError(explain(String(cause), layout), cause);
  }
}

/** What the server has written since its log had `start` bytes; empty when the log cannot be read. */
export async function readLogFrom(layout: Layout, start: number): Promise<string> {
  const bytes = await readFile(layout.log).catch(() => Buffer.alloc(0));
  return bytes.subarray(start).toString('utf8');
}
