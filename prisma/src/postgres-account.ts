import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StoreError } from './errors.ts';

/** The account that runs the embedded server, and how to start a program under it. */
export interface PostgresAccount {
  /** null: the account of this process */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** put before the program and its arguments */
  readonly prefix: readonly string[];
}

/**
 * Chooses the account for the embedded server. PostgreSQL refuses to run as root, so a root process runs it
 * as the owner of an existing data folder, else as user `postgres`, which is created where it is missing.
 *
 * A folder that only root may enter (a home, a `mktemp -d`) is no obstacle on Linux with `setpriv`: the
 * server then keeps the one capability to pass it. Elsewhere the error names the folder.
 *
 * @param dataFolder the server's folder; need not exist
 * @param folders what the server must be able to enter
 * @throws StoreError `embedded_postgres`
 */
export async function choosePostgresAccount(
  dataFolder: string,
  folders: readonly string[],
): Promise<PostgresAccount> {
  if (process.getuid?.() !== 0) return { user: null, prefix: [] };
  const user =
    (await ownerOf(dataFolder)) ?? (await accountOf('postgres')) ?? (await createPostgresAccount());
  const barred = await firstFolderBarredFor(user, folders);
  if (barred === null) return { user, prefix: [] };
  if ((await run('setpriv', ['--version'])) === null) {
    throw new StoreError(
      'embedded_postgres',
      `PostgreSQL does not run as root, and the account it runs under may not enter ${barred}: ` +
        'start the service as an ordinary user or choose a data folder (SVC_DATA_DIR) and a place for the program that every user may enter.',
    );
  }
  return {
    // setpriv itself starts as root and changes the account
    user: null,
    prefix: [
      'setpriv',
      ...['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'],
      ...['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'],
      // without it access(2) ignores the capability, and the server asks access(2) for its own program
      ...['--securebits', '+no_setuid_fixup'],
    ],
  };
}

/** The uid that owns what the account creates: what files made for it must be handed to. */
export async function ownerForAccount(
  account: PostgresAccount,
): Promise<{ uid: number; gid: number } | null> {
  if (account.user !== null) return account.user;
  const uid = account.prefix[account.prefix.indexOf('--reuid') + 1];
  const gid = account.prefix[account.prefix.indexOf('--regid') + 1];
  return account.prefix.length === 0 ? null : { uid: Number(uid), gid: Number(gid) };
}

async function ownerOf(folder: string): Promise<{ uid: number; gid: number } | null> {
  const found = await stat(folder).catch(() => null);
  return found === null || found.uid === 0 ? null : { uid: found.uid, gid: found.gid };
}

async function accountOf(name: string): Promise<{ uid: number; gid: number } | null> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return uid === null || gid === null ? null : { uid: Number(uid), gid: Number(gid) };
}

async function createPostgresAccount(): Promise<{ uid: number; gid: number }> {
  await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'postgres']);
  const account = await accountOf('postgres');
  if (account === null) {
    throw new StoreError(
      'embedded_postgres',
      'PostgreSQL does not run as root, and the user postgres could not be created: start the service as an ordinary user.',
    );
  }
  return account;
}

async function firstFolderBarredFor(
  user: { uid: number; gid: number },
  folders: readonly string[],
): Promise<string | null> {
  for (const folder of folders) {
    const ancestors: string[] = [];
    for (let at = resolve(folder); ; at = dirname(at)) {
      ancestors.unshift(at);
      if (at === dirname(at)) break;
    }
    for (const ancestor of ancestors) {
      const found = await stat(ancestor).catch(() => null);
      if (found === null) break;
      const search = found.uid === user.uid ? 0o100 : found.gid === user.gid ? 0o010 : 0o001;
      if ((found.mode & search) === 0) return ancestor;
    }
  }
  return null;
}

/** Output of a small program without its line end; null when it is missing or fails. */
function run(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((done) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', () => done(null));
    child.once('close', (code) => done(code === 0 ? output.trim() : null));
  });
}
