import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { cancelQuery, createClient } from '../../../src/store/postgres/client.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import { NO_TLS, startTlsServer, type TlsServer } from '../tls-server.ts';

let server: TlsServer;
describe.skipIf(NO_TLS !== undefined)(`TLS to PostgreSQL${NO_TLS === undefined ? '' : `: ${NO_TLS}`}`, () => {
  beforeAll(async () => {
    server = await startTlsServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Whether a connection is encrypted; else why there is none. */
  async function encrypted(query: string): Promise<boolean | string> {
    const client = createClient({ url: `${server.url}?${query}` });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      return rows[0].ssl;
    } catch (error) {
      const { reason, message } = error as Error & { reason?: string };
      return reason === undefined ? `unexpected: ${message}` : reason;
    } finally {
      await client.end();
    }
  }

  const ALL = 'host all all all scram-sha-256';
  const TLS_ONLY = 'hostssl all all all scram-sha-256';
  const PLAIN_ONLY = 'hostnossl all all all scram-sha-256';

  it.each([
    ['', true, true, false],
    ['sslmode=disable', false, 'tls', false],
    ['sslmode=allow', false, true, false],
    ['sslmode=prefer', true, true, false],
    ['sslmode=prefer&sslrootcert=OTHER', true, true, false],
    ['sslmode=require', true, true, 'refused'],
    ['ssl=true', true, true, 'refused'],
    ['sslmode=require&channel_binding=require', true, true, 'refused'],
    ['sslmode=require&sslrootcert=OWN', true, true, 'refused'],
    ['sslmode=require&sslrootcert=OTHER', 'tls', 'tls', 'tls'],
    ['sslmode=verify-ca&sslrootcert=OWN', true, true, 'refused'],
    ['sslmode=verify-full&sslrootcert=OWN', true, true, 'refused'],
    ['sslmode=verify-full', 'tls', 'tls', 'tls'],
    ['sslrootcert=system', 'tls', 'tls', 'tls'],
  ])('%s', async (query, ...expected) => {
    const stated = query.replace('OWN', server.authority).replace('OTHER', server.otherAuthority);
    const found: unknown[] = [];
    for (const lines of [ALL, TLS_ONLY, PLAIN_ONLY]) {
      await server.admit(lines);
      found.push(await encrypted(stated));
    }
    await server.admit(ALL);
    expect(found).toEqual(expected);
  });

  it('verify-ca takes a certificate for another name, verify-full does not', async () => {
    await server.rename();
    expect(await encrypted(`sslmode=verify-ca&sslrootcert=${server.authority}`)).toBe(true);
    expect(await encrypted(`sslmode=verify-full&sslrootcert=${server.authority}`)).toBe('tls');
  });

  it('migrates, pools and cancels over TLS', async () => {
    await server.admit(TLS_ONLY);
    const url = `${server.url}?sslmode=require&sslrootcert=${server.authority}`;
    expect((await migrate(url)).applied).not.toEqual([]);
    const pool = createPool({ url, size: 1 });
    const client = await pool.connect();
    let isRunning = true;
    const query = client.query('SELECT pg_sleep(60)').catch((error: unknown) => {
      isRunning = false;
      return error;
    });
    // A request that comes before the query has begun cancels nothing.
    while (isRunning) await cancelQuery(client);
    await expect(query).resolves.toMatchObject({ code: '57014' });
    client.release();
    await pool.end();
  });

  it('falls back from a server that has no TLS only where the mode allows it', async () => {
    await server.admit(ALL);
    await server.query('ALTER SYSTEM SET ssl = off');
    await server.query('SELECT pg_reload_conf()');
    expect(await Promise.all(['', 'sslmode=allow', 'sslmode=require'].map(encrypted))).toEqual([
      false,
      false,
      'tls',
    ]);
  });
});

it.each([
  [
    'sslmode=no-verify',
    'must have one of disable, allow, prefer, require, verify-ca, verify-full as sslmode, got no-verify',
  ],
  ['sslmode=verify-ca', 'has sslmode=verify-ca, which needs sslrootcert'],
  ['sslmode=require&sslrootcert=system', 'has sslrootcert=system, which needs sslmode=verify-full'],
  ['sslrootcert=/nowhere/ca.pem&sslmode=require', /^names a file as sslrootcert that cannot be read: ENOENT/],
])('refuses %s', (query, message) => {
  expect(() => createClient({ url: `postgresql://svc@localhost/svc?${query}` })).toThrow(message);
});
