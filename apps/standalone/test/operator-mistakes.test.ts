import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from '../../../packages/service/test/store/empty-database.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { throughLine } from '../../../packages/service/test/store/server-address.ts';
import { startTcpProxy } from '../../../packages/service/test/store/tcp-proxy.ts';
import { createTestDatabase } from '../../../packages/service/test/store/template-db.ts';
import { NO_TLS, startTlsServer, type TlsServer } from '../../../packages/service/test/store/tls-server.ts';
import { startTestApi, type TestApi } from '../../api/test/start-test-api.ts';
import { runService } from './faults/run-service.ts';

const SVC_ADMIN = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url));
const STANDALONE = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const PATH = process.env['PATH'] ?? '';

let cleanUp: AsyncDisposableStack;
let folder: string;
/** An address of a migrated database that has no TLS. */
let plain: string;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'svc-mistakes-'));
  // the database of a service that was killed may still be ending
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const database = await createTestDatabase();
  cleanUp.defer(() => database.drop());
  plain = throughLine(database.url, cleanUp.use(await startTcpProxy(database.url)));
});
afterAll(() => cleanUp.disposeAsync());

/** What a person reads: in a terminal, in the log, and from `/readyz`. */
interface Told {
  readonly terminal: string;
  readonly log: string;
  readonly readyz: unknown;
}

/** An API on a database, and the status of `/readyz` with what it says of the database. */
async function startApi(
  databaseUrl: string,
): Promise<TestApi & { readonly readyz: () => Promise<readonly [status: number, database: unknown]> }> {
  const api = await startTestApi({}, { databaseUrl });
  const readyz = async (): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${api.url}/readyz`);
    const { checks } = (await response.json()) as { checks: { database: unknown } };
    return [response.status, checks.database];
  };
  return { ...api, readyz };
}

/** `svc-admin migrate` of a database, and an API on it. */
async function mistake(url: string): Promise<Told> {
  const terminal = run(SVC_ADMIN, ['migrate'], { DATABASE_URL: url });
  await using service = await startApi(url);
  const readyz = await service.readyz();
  const line = service.log().find(({ event }) => event === 'database.unready');
  const list = await fetch(`${service.url}/datasets`);
  const { reason } = (await list.json()) as { reason?: string };
  expect(list.status === 200 || (list.status === 503 && reason === line?.['reason'])).toBe(true);
  return { terminal: await terminal, log: String(line?.['message']), readyz };
}

const check = (reason: string, detail: RegExp): unknown => [
  503,
  { ok: false, reason, detail: expect.stringMatching(detail) },
];

/** Where the messages are: in the tests of this file, or only in a source. */
const MESSAGE_SOURCES = [
  './operator-mistakes.test.ts',
  '../../../packages/service/src/config/api-keys.ts',
  '../../../packages/service/src/config/provider-keys.ts',
  '../../../packages/service/src/store/database/errors.ts',
];

const PAGE = new URL('../../../docs/operations.md', import.meta.url);

it('docs/operations.md shows queries that run', async () => {
  const page = await readFile(PAGE, 'utf8');
  const queries = page.match(/(?<=^```sql\n(?:[^`]*\n)?)SELECT [^;]*;/gm) ?? [];
  expect(queries).toHaveLength(5);
  for (const query of queries) await queryDatabase(plain, query);
});

it('docs/operations.md lists messages as they are', async () => {
  const page = await readFile(PAGE, 'utf8');
  const [, table = ''] = /^### What a message asks for\n([\s\S]*?)^## /m.exec(page) ?? [];
  const messages = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, message = '']) => message);
  expect(messages.length).toBeGreaterThan(10);
  const sources = await Promise.all(
    MESSAGE_SOURCES.map((path) => readFile(new URL(path, import.meta.url), 'utf8')),
  );
  const parts = messages.flatMap((message) => message.split('…').map((part) => part.trim()));
  expect(parts.filter((part) => !sources.some((source) => source.includes(part)))).toEqual([]);
});

describe('a mistake with the database', () => {
  it('wrong password', async () => {
    const url = new URL(plain);
    url.password = 'not-the-password';
    const { terminal, log, readyz } = await mistake(url.href);
    const where = `Cannot connect to the database "${url.pathname.slice(1)}" at 127.0.0.1:${url.port} as "${url.username}"`;
    const sentence = `${where}: password authentication failed for user "${url.username}" (28P01).`;
    expect(log).toBe(`${sentence} ${REFUSED}`);
    expect(terminal).toBe(`1 svc-admin: ${sentence} ${REFUSED.replace(/\.$/, '')} (database_refused)\n`);
    expect(readyz).toEqual(
      check('refused', /^The database refuses the service\. Check the user, the password/),
    );
  });

  it('wrong host', async () => {
    const { terminal, log, readyz } = await mistake('postgresql://svc:x@db.invalid/svc');
    expect(log).toMatch(
      /"svc" at db\.invalid:5432 as "svc": the host is unknown \(ENOTFOUND\)\. The database cannot/,
    );
    expect(terminal).toMatch(/^1 svc-admin: .* the host is unknown \(ENOTFOUND\)\. .* \(unavailable\)\n$/);
    expect(readyz).toEqual(
      check('unreachable', /^The database cannot be reached.*host and port of DATABASE_URL\.$/),
    );
  });

  it('no TLS', async () => {
    const { terminal, log, readyz } = await mistake(`${plain}?sslmode=require`);
    expect(log).toMatch(
      /: The server does not support SSL connections\. The database and the service do not agree/,
    );
    expect(terminal).toMatch(/^1 svc-admin: .*does not support SSL connections.* \(database_refused\)\n$/);
    expect(readyz).toEqual(check('tls', /sslmode and sslrootcert of DATABASE_URL\.$/));
  });

  it.skipIf(NO_TLS !== undefined)(
    `a certificate of no authority${NO_TLS === undefined ? '' : `: ${NO_TLS}`}`,
    async () => {
      await using server: TlsServer = await startTlsServer();
      const { terminal, log, readyz } = await mistake(`${server.url}?sslmode=verify-full`);
      expect(log).toMatch(/: no authority that is known has signed its certificate \(UNABLE_TO_\w+\)\. /);
      expect(terminal).toMatch(/^1 svc-admin: .*signed its certificate.* \(database_refused\)\n$/);
      expect(readyz).toEqual(check('tls', /sslrootcert/));
    },
  );

  it('not migrated', async () => {
    await using database = await createEmptyDatabase();
    expect(await exported(database.url)).toBe(NOT_MIGRATED);
    await using service = await startApi(database.url);
    expect(await service.readyz()).toEqual(check('not_migrated', /Run `svc-admin migrate`\.$/));
    const list = await fetch(`${service.url}/datasets`);
    expect([list.status, await list.json()]).toMatchObject([
      503,
      { code: 'unavailable', reason: 'not_migrated' },
    ]);
    await run(SVC_ADMIN, ['migrate'], { DATABASE_URL: database.url });
    await expect.poll(service.readyz).toEqual([200, { ok: true }]);
    expect(service.log().filter(({ event }) => /^database\.(un)?ready$/.test(String(event)))).toMatchObject([
      { event: 'database.unready', reason: 'not_migrated' },
      { event: 'database.ready' },
    ]);
  });

  it('an old schema: what works is served', async () => {
    const database = await createTestDatabase();
    cleanUp.defer(() => database.drop());
    await queryDatabase(
      database.url,
      `UPDATE _prisma_migrations SET rolled_back_at = now()
         WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`,
    );
    await using service = await startApi(database.url);
    expect(await service.readyz()).toEqual(check('not_migrated', /Run `svc-admin migrate`\.$/));
    expect(service.log().find(({ event }) => event === 'database.unready')?.['message']).toMatch(
      /Run `svc-admin migrate`\.$/,
    );
    expect((await fetch(`${service.url}/datasets`)).status).toBe(200);
    await queryDatabase(database.url, 'ALTER TABLE datasets DROP COLUMN handle');
    expect(await exported(database.url)).toBe(NOT_MIGRATED);
  });

  it('a full disk: what is stored can be read', async () => {
    // What the server says when a disk is full, of every row and of the room that the probe takes.
    const fill = (tag: string): string => `CREATE FUNCTION full_${tag}() RETURNS ${tag} LANGUAGE plpgsql AS
      'BEGIN RAISE disk_full USING MESSAGE = ''could not extend file: No space left on device''; END'`;
    const tables = `CREATE EVENT TRIGGER full_disk ON ddl_command_start WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS')
      EXECUTE FUNCTION full_event_trigger()`;
    await using empty = await createEmptyDatabase();
    for (const sql of [fill('event_trigger'), tables]) await queryDatabase(empty.url, sql);
    expect(await run(SVC_ADMIN, ['migrate'], { DATABASE_URL: empty.url })).toBe(
      '1 svc-admin: The database could not be migrated: ERROR: could not extend file: No space left on device (migration_failed)\n',
    );
    const database = await createTestDatabase();
    cleanUp.defer(() => database.drop());
    for (const sql of [
      fill('trigger'),
      fill('event_trigger'),
      'CREATE TRIGGER full_disk BEFORE UPDATE OR INSERT ON settings FOR EACH ROW EXECUTE FUNCTION full_trigger()',
      tables,
    ]) {
      await queryDatabase(database.url, sql);
    }
    await using service = await startApi(database.url);
    expect(await service.readyz()).toEqual([200, { ok: true }]);
    const write = await fetch(`${service.url}/settings`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"cancellation_check_interval_ms":1000}',
    });
    expect([write.status, await write.json()]).toMatchObject([503, { code: 'unavailable', reason: 'full' }]);
    expect((await fetch(`${service.url}/datasets`)).status).toBe(200);
    await expect.poll(service.readyz).toEqual(check('full', /^The database has no room left on its disk\. /));
    expect(service.log().find(({ event }) => event === 'database.unready')?.['message']).toMatch(
      /^The database has no room left on its disk\. /,
    );
    await queryDatabase(database.url, 'DROP EVENT TRIGGER full_disk');
    await expect.poll(service.readyz).toEqual([200, { ok: true }]);
  });
});

/** What a command says that reads the database. */
const exported = (url: string): Promise<string> =>
  run(SVC_ADMIN, ['export', 'Capitals', '--database'], { DATABASE_URL: url });

const NOT_MIGRATED =
  '1 svc-admin: The database is not migrated to this version. Run `svc-admin migrate` (database_not_migrated)\n';

const REFUSED =
  'The database refuses the service. Check the user, the password, the name of the database and its rights in DATABASE_URL.';

/** The exit code of a program, and what it says on standard error. */
async function run(program: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return `${code} ${said}`;
}

describe('a mistake that ends a start', () => {
  const start = (env: Record<string, string>): Promise<string> =>
    run(STANDALONE, [], { SVC_PORT: '0', SVC_DATA_DIR: join(folder, 'data'), ...env });

  it('a port that is used: no database is made', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const dataDir = join(folder, 'none');
    expect(await start({ SVC_PORT: String(port), SVC_DATA_DIR: dataDir })).toBe(
      `1 Cannot start svc-standalone: Cannot listen on 127.0.0.1:${port}: the port is in use. ` +
        'Stop the process that uses it, or set SVC_PORT to another port.\n',
    );
    await expect(rm(dataDir, { recursive: true })).rejects.toThrow('ENOENT');
    other.close();
  });

  it('a wrong variable', async () => {
    expect(await start({ SVC_PROT: '1', SVC_PORT: 'x' })).toBe(
      '78 Invalid configuration:\n  SVC_PORT must be a whole number from 0 to 65535, got "x"\n' +
        '  SVC_PROT is an unknown environment variable\n',
    );
  });

  it('a folder that cannot be made', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await start({ SVC_DATA_DIR: join(file, 'data') })).toBe(
      `1 Cannot start svc-standalone: Cannot create the data folder ${file}/data: ENOTDIR: not a directory, mkdir '${file}/data'.\n`,
    );
  });

  it('two services on one folder', async () => {
    await using first = await runService({ app: 'standalone', dataDir: join(folder, 'shared') });
    expect(await start({ SVC_DATA_DIR: join(folder, 'shared') })).toContain(
      `1 Cannot start svc-standalone: Process ${first.child.pid} is using the data folder ${join(folder, 'shared')}`,
    );
  });

  it('a database that refuses', async () => {
    expect(await start({ DATABASE_URL: 'postgresql://svc:x@127.0.0.1:1/svc' })).toBe(
      '1 Cannot start svc-standalone: Cannot connect to the database "svc" at 127.0.0.1:1 as "svc": nothing listens on that port ' +
        '(ECONNREFUSED). The database cannot be reached at the moment. Check that it runs, and the host and port of DATABASE_URL.\n',
    );
  });
});
