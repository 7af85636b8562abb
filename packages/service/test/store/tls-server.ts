import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts';
import { makeDataFolder } from '../../../../apps/standalone/test/make-data-folder.ts';
import { superuserUrl } from '../../../../apps/standalone/test/superuser-url.ts';
import { queryDatabase } from './query-database.ts';

/** Says what a machine lacks for tests with TLS; undefined if it lacks nothing. */
export const NO_TLS: string | undefined =
  process.platform === 'linux' ? lackOf('openssl') : 'only Linux has many loopback addresses';

/** A PostgreSQL on an address of the loopback interface, with a certificate for this address that its own authority signed. */
export interface TlsServer extends AsyncDisposable {
  /** postgresql:// URL of an empty database, without a query. */
  readonly url: string;
  readonly address: string;
  /** Files: the authority that signed the certificate, and one that did not. */
  readonly authority: string;
  readonly otherAuthority: string;
  /** Sets who may log in: lines of pg_hba.conf for connections by network. */
  admit(...lines: readonly string[]): Promise<void>;
  /** Presents the certificate for another name. */
  rename(): Promise<void>;
  /** Runs a statement as a superuser. */
  query(sql: string): Promise<unknown[]>;
}

/** Starts one. */
export async function startTlsServer(): Promise<TlsServer> {
  await using starting = new AsyncDisposableStack();
  const folder = await makeDataFolder('svc-tls-');
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const address = `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(2, 255)}`;
  const server = starting.use(
    await startEmbeddedPostgres({ dataDir: folder, settings: { listen_addresses: address, fsync: 'off' } }),
  );
  const superuser = await superuserUrl(server.url, folder);
  const query = (sql: string): Promise<unknown[]> => queryDatabase(superuser, sql);
  const data = join(folder, 'postgres/data');
  const files = join(data, 'tls');
  const give = (path: string): void => {
    if (server.account !== null) chownSync(path, server.account.uid, server.account.gid);
  };
  mkdirSync(files);
  for (const name of ['authority', 'other']) openssl(files, ...selfSigned(name, `/CN=${name}`));
  for (const [name, host] of [
    ['server', `IP:${address}`],
    ['renamed', 'DNS:elsewhere.example'],
  ] as const) {
    openssl(
      files,
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      '/CN=x',
    );
    writeFileSync(join(files, `${name}.ext`), `subjectAltName=${host}\n`);
    const signed = [
      '-CA',
      'authority.crt',
      '-CAkey',
      'authority.key',
      '-CAcreateserial',
      '-extfile',
      `${name}.ext`,
    ];
    openssl(files, 'x509', '-req', '-days', '2', '-in', `${name}.csr`, '-out', `${name}.crt`, ...signed);
    for (const end of ['key', 'crt']) give(join(files, `${name}.${end}`));
  }
  give(files);
  const reload = async (): Promise<void> => {
    await query('SELECT pg_reload_conf()');
  };
  const present = async (name: string): Promise<void> => {
    await query(`ALTER SYSTEM SET ssl_cert_file = 'tls/${name}.crt'`);
    await query(`ALTER SYSTEM SET ssl_key_file = 'tls/${name}.key'`);
    await query(`ALTER SYSTEM SET ssl = on`);
    await reload();
  };
  const admit = async (...lines: readonly string[]): Promise<void> => {
    const all = ['local all all scram-sha-256', ...lines, ''];
    writeFileSync(join(data, 'pg_hba.conf'), all.join('\n'));
    await reload();
  };
  await present('server');
  await admit('host all all all scram-sha-256');
  const { username, password } = new URL(server.url.replace(/@[^/]*/, '@host'));
  const running = starting.move();
  return {
    url: `postgresql://${username}:${password}@${address}:5432/svc`,
    address,
    authority: join(files, 'authority.crt'),
    otherAuthority: join(files, 'other.crt'),
    admit,
    rename: () => present('renamed'),
    query,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const selfSigned = (name: string, subject: string): string[] => [
  ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', subject],
  ...['-keyout', `${name}.key`, '-out', `${name}.crt`],
];

function openssl(cwd: string, ...args: readonly string[]): void {
  execFileSync('openssl', [...args], { cwd, stdio: 'ignore' });
}

function lackOf(program: string): string | undefined {
  try {
    execFileSync(program, ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `this machine has no ${program}`;
  }
}
