import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { firstBarredFolder } from './embedded-postgres/process/postgres-account.ts';
import type { Account } from './embedded-postgres/process/spawn-as.ts';

/** Code that is loaded later, also by threads: the account must be able to read it. */
const CODE: readonly string[] = [
  import.meta.filename,
  createRequire(import.meta.url).resolve('@svc/store/package.json'),
];

/**
 * Finds the first folder, on the path to the code or to the data, that an account cannot enter. A root process can
 * continue as that account only without one.
 *
 * @returns null when there is none
 */
export async function obstacleTo(account: Account, dataDir: string): Promise<string | null> {
  return await firstBarredFolder(account, [...CODE, process.execPath, dataDir]);
}

/**
 * Switches to another account, permanently and without capabilities. Bind ports below 1024 before.
 *
 * @param folders folders that the service writes to from now on; the account becomes their owner
 */
export function leaveRoot(account: Account, folders: readonly string[]): void {
  for (const folder of folders) changeOwner(folder, account);
  process.setgroups?.([account.gid]);
  process.setgid?.(account.gid);
  process.setuid?.(account.uid);
}

function changeOwner(path: string, account: Account): void {
  const found = lstatSync(path);
  // A file with another hard link elsewhere keeps its owner.
  if (!found.isDirectory() && found.nlink !== 1) return;
  lchownSync(path, account.uid, account.gid);
  if (found.isDirectory()) for (const name of readdirSync(path)) changeOwner(join(path, name), account);
}
