import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSectionHasher, itemHash, joinItem, parseItem, versionHash } from '@svc/jsonl-v23';
import { parseJson } from '@svc/jsonl-v23/json';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { createStore, type Store } from '../src/create-store.ts';
import { migrate, readMigrations } from '../src/migrate/migrate.ts';
import { MigrationAdapter } from '../src/migrate/migration-adapter.ts';
import { openSchemaEngine } from '../src/migrate/schema-engine.ts';
import { importItems } from './import-items.ts';
import { migrateTo } from './migrate-to.ts';
import { queryDatabase } from './query-database.ts';

/** Data as the service stored them at its first migration: see `test/upgrade`. */
const FIRST = '20260101000000_datasets_runs_jobs';
const names = (await readMigrations()).migrationDirectories.map(({ path }) => path);

let url: string;
let cleanUp: AsyncDisposableStack;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  const name = `svc_upgrade_${randomBytes(6).toString('hex')}`;
  const server = inject('postgresUrl');
  await queryDatabase(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  cleanUp.defer(async () => void (await queryDatabase(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  const own = new URL(server);
  own.pathname = `/${name}`;
  url = own.href;
});
afterEach(() => cleanUp.disposeAsync());

/** A database as it was when `names[count - 1]` was the newest migration. */
async function databaseAt(count: number): Promise<void> {
  await migrateTo(url, names.slice(0, 1));
  await queryDatabase(url, await readFile(new URL(`upgrade/${FIRST}.sql`, import.meta.url), 'utf8'));
  if (count > 1) await migrateTo(url, names.slice(0, count));
}

/** The hashes of a dataset, recomputed from its items. */
async function computedHashes(store: Store, id: string): Promise<{ sections: string[]; version: string }> {
  await using open = await store.datasets.open(id);
  const hashes: Uint8Array[] = [];
  for (const section of open.sections) {
    const hasher = createSectionHasher(section.name);
    for await (const batch of open.items([section])) {
      for (const item of batch) hasher.add(itemHash(parseItem(parseJson(joinItem(item)))));
    }
    hashes.push(hasher.digest());
  }
  const sections = hashes.map((hash) => Buffer.from(hash).toString('hex'));
  return { sections, version: versionHash(hashes) };
}

it('begins with the first migration', () => {
  expect(names[0]).toBe(FIRST);
});

describe.each(names.map((name, index) => [name, index + 1] as const))(
  'from %s to the newest',
  (_name, count) => {
    it('every hash, result and setting is kept', async () => {
      await databaseAt(count);
      expect(await migrate(url)).toEqual({ applied: names.slice(count) });
      const store = cleanUp.use(createStore({ url }));

      const { data: datasets } = await store.datasets.list({ limit: 10 });
      expect(datasets.map((dataset) => [dataset.name, dataset.versionHash]).sort()).toEqual([
        ['By a job', 'c218f4b5a9d7473ed59147d861e9f050d973eb3ff22dc571f11d630b3562bbd5'],
        ['Upgraded', '33985e7d761753adb1dc63e5818f152e42d026347cf709bc9e2d0e435551cea1'],
      ]);
      for (const dataset of datasets) {
        const computed = await computedHashes(store, dataset.id);
        expect(computed.version).toBe(dataset.versionHash);
        const stored = await queryDatabase(
          url,
          `SELECT encode(section_hash, 'hex') AS hash FROM sections WHERE dataset_id = '${dataset.id}' ORDER BY order_index`,
        );
        expect(computed.sections).toEqual(stored.map(({ hash }) => hash));
      }

      const { data: runs } = await store.runs.list({ limit: 10 });
      expect(runs).toMatchObject([
        {
          name: 'r',
          status: 'completed',
          datasetVersionHash: '33985e7d761753adb1dc63e5818f152e42d026347cf709bc9e2d0e435551cea1',
          counts: { total: 14, done: 14, ok: 4, failed: 6, unscored: 4 },
          scores: { mean: 0.5, passed: 2, passRate: 0.2 },
        },
      ]);
      const { data: results } = await store.runs.listResults(runs[0]?.id ?? '', { limit: 100 });
      expect(results).toHaveLength(14);
      expect(results[2]).toMatchObject({ output: '0.12345678901234567890123', status: 'unscored' });
      expect(await store.settings.get()).toMatchObject({ cancellationCheckIntervalMs: 777 });
    });
  },
);

it('a database of the next version serves this one too, while processes are replaced', async () => {
  await databaseAt(names.length);
  await migrate(url);
  const pool = new pg.Pool({ connectionString: url });
  cleanUp.defer(() => pool.end());
  const { migrationDirectories, ...list } = await readMigrations();
  // of the kind that CONTRIBUTING allows: it leaves the version before it working
  const next = {
    path: '99990101000000_next',
    migrationFile: {
      path: 'migration.sql',
      content: {
        tag: 'ok' as const,
        value: `ALTER TABLE items ADD COLUMN note TEXT; ALTER TABLE datasets ADD COLUMN stars INTEGER NOT NULL DEFAULT 0;
          CREATE TABLE notes (id UUID PRIMARY KEY); CREATE INDEX items_type ON items (type);`,
      },
    },
  };
  {
    using opened = await openSchemaEngine(new MigrationAdapter(pool));
    const outcome = await opened.engine.applyMigrations({
      migrationsList: { ...list, migrationDirectories: [...migrationDirectories, next] },
      filters: { externalTables: [], externalEnums: [] },
    });
    expect(outcome.appliedMigrationNames).toEqual([next.path]);
  }

  expect(await migrate(url)).toEqual({ applied: [] });
  const store = cleanUp.use(createStore({ url }));
  expect(await store.ready()).toEqual({ database: true, queue: true });
  const { data: before } = await store.datasets.list({ limit: 10 });
  expect(before).toHaveLength(2);
  const added = await importItems(store.datasets, { a: ['{"id":1}', '{"answer":0.10}'] });
  for (const { id, versionHash: stored } of [...before, added]) {
    expect((await computedHashes(store, id)).version).toBe(stored);
  }
});
