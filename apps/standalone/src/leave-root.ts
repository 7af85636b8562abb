import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Account, firstBarredFolder } from '@svc/embedded-postgres';

/** What of the code is loaded later, in threads too, shows whether an account can reach all of it. */
const CODE: readonly string[] = [import.meta.filename, createRequire(import.meta.url).resolve('@svc/store')];

/**
 * Finds out why a root process cannot go on as another account: the first folder that the account may not enter, on the
 * way to the code or to the data.
 *
 * @returns null when it can
 */
export async function obstacleTo(account: Account, dataDir: string): Promise<string | null> {
  return await firstBarredFolder(account, [...CODE, process.execPath, dataDir]);
}

/**
 * Goes on as another account, for good, with no capability left. Ports below 1024 are bound before.
 *
 * @param folders what the service writes to from now on; they are given to the account
 */
export function leaveRoot(account: Account, folders: readonly string[]): void {
  for (const folder of folders) give(folder, account);
  process.setgroups?.([account.gid]);
  process.setgid?.(account.gid);
  process.setuid?.(account.uid);
}

function give(path: string, account: Account): void {
  const found = lstatSync(path);
  // What has another name elsewhere is not ours to give away.
  if (!found.isDirectory() && found.nlink !== 1) return;
  lchownSync(path, account.uid, account.gid);
  if (found.isDirectory()) for (const name of readdirSync(path)) give(join(path, name), account);
}
