import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError } from './layout.ts';
import { type Account, runToEnd } from './processes.ts';

/**
 * PostgreSQL refuses to run as root, so a root process runs it as the owner of an existing data folder, else as user
 * `postgres`, which is created if it does not exist. Null where this process is not root.
 */
export async function choosePostgresAccount(data: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  return (await ownerOf(data)) ?? (await accountOf('postgres')) ?? (await createPostgresAccount());
}

/** Null when the account can reach all of the paths. Paths that do not exist count as reachable. */
export async function firstBarredFolder(account: Account, paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const ancestors: string[] = [];
    for (let at = resolve(path); ; at = dirname(at)) {
      ancestors.unshift(at);
      if (at === dirname(at)) break;
    }
    for (const ancestor of ancestors) {
      const found = await stat(ancestor).catch(() => null);
      if (found === null) break;
      if (!found.isDirectory()) continue;
      const search = found.uid === account.uid ? 0o100 : found.gid === account.gid ? 0o010 : 0o001;
      if ((found.mode & search) === 0) return ancestor;
    }
  }
  return null;
}

async function ownerOf(folder: string): Promise<Account | null> {
  const found = await stat(folder).catch(() => null);
  return found === null || found.uid === 0 ? null : { uid: found.uid, gid: found.gid };
}

async function accountOf(name: string): Promise<Account | null> {
  const [uid, gid] = await Promise.all([runToEnd('id', ['-u', name]), runToEnd('id', ['-g', name])]);
  return uid.code !== 0 || gid.code !== 0 ? null : { uid: Number(uid.output), gid: Number(gid.output) };
}

async function createPostgresAccount(): Promise<Account> {
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false'];
  await runToEnd('useradd', [...options, 'postgres']);
  const account = await accountOf('postgres');
  if (account === null) {
    throw new EmbeddedPostgresError(
      'PostgreSQL does not run as root, and the user postgres cannot be created: start the service as an ordinary user.',
    );
  }
  return account;
}

/** Only without such a folder, on the path to the code or to the data, can a root process continue as the account. */
export async function obstacleTo(account: Account, dataDir: string): Promise<string | null> {
  // what is loaded later, also by threads
  const code = [import.meta.filename, createRequire(import.meta.url).resolve('@svc/service/package.json')];
  return await firstBarredFolder(account, [...code, process.execPath, dataDir]);
}

/** Permanent, and without capabilities: bind ports below 1024 before. The account becomes the owner of `folders`. */
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
