import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { superuserUrl } from '../../packages/embedded-postgres/test/superuser-url.ts';
import { migrate } from '../src/migrate/migrate.ts';
import { startOlderVersion } from './older-version.ts';

let dataDir: string;
const started: EmbeddedPostgres[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir });
  started.push(server);
  return server;
}

async function query<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

it('transfers to the ordinary role what an older version created as the superuser', async () => {
  const first = await start();
  await (await startOlderVersion(first.url))[Symbol.asyncDispose]();
  await migrate(first.url);
  const superuser = await superuserUrl(first.url, dataDir);
  await query(superuser, 'CREATE VIEW seen AS SELECT 1 AS one');
  await query(superuser, 'ALTER DATABASE svc OWNER TO postgres');
  await query(superuser, 'REASSIGN OWNED BY svc TO postgres');
  await query(superuser, 'DROP OWNED BY svc');
  await first.stop();
  await rm(join(dataDir, 'postgres/service-password'));

  const second = await start();
  const foreign = `
    SELECT oid::regclass::text AS name FROM pg_class WHERE relowner <> 'svc'::regrole AND relnamespace IN
      (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
    UNION ALL SELECT proname FROM pg_proc WHERE proowner <> 'svc'::regrole AND pronamespace = 'pgboss'::regnamespace
    UNION ALL SELECT typname FROM pg_type WHERE typowner <> 'svc'::regrole AND typnamespace = 'pgboss'::regnamespace
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'pgboss' AND nspowner <> 'svc'::regrole`;
  expect(await query(second.url, foreign)).toEqual([]);
  expect(await migrate(second.url)).toEqual({ applied: [] });
  await query(
    second.url,
    'DROP VIEW seen; ALTER TABLE datasets ADD COLUMN later text; DROP SCHEMA pgboss CASCADE',
  );
});
