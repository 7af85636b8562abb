import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import {
  createSectionHasher,
  encodeItem,
  parseItem,
  versionHash,
} from '../../../packages/jsonl-v23/src/index.ts';
import { canonicalJson } from '../../../packages/jsonl-v23/src/json/index.ts';
import { readMigrations } from '../../../prisma/src/migrate/migrate.ts';
import { migrateTo } from '../../../prisma/test/migrate-to.ts';
import { queryDatabase } from '../../../prisma/test/query-database.ts';
import { runService } from './faults/run-service.ts';

const ASSETS = '20261122130000_assets';

let cleanUp: AsyncDisposableStack;
let url: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  const name = `svc_older_${randomBytes(6).toString('hex')}`;
  const server = inject('postgresUrl');
  await queryDatabase(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  cleanUp.defer(async () => void (await queryDatabase(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  const own = new URL(server);
  own.pathname = `/${name}`;
  url = own.href;
});
afterEach(() => cleanUp.disposeAsync());

/** A dataset of one section, by the statements of the version before assets. */
async function importAsOlder(items: readonly object[]): Promise<string> {
  const [dataset, section] = [randomUUID(), randomUUID()];
  const encoded = items.map((item) => encodeItem(parseItem(item as never)));
  const hasher = createSectionHasher('s');
  for (const { itemHash } of encoded) hasher.add(itemHash);
  const sectionHash = hasher.digest();
  await queryDatabase(
    url,
    `INSERT INTO datasets (id, name, source, version_hash, schema, section_count, item_count, asset_count)
     VALUES ($1, 'older', 'pkg_zip', $2, '{"package":null,"source":"pkg_zip"}', 1, $3, $3)`,
    [dataset, versionHash([sectionHash]), items.length],
  );
  await queryDatabase(
    url,
    `INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash) VALUES ($1, $2, 's', 0, $3, $4)`,
    [section, dataset, items.length, sectionHash],
  );
  for (const [index, { itemHash, type, payload, answer, checker, assets }] of encoded.entries()) {
    await queryDatabase(
      url,
      `INSERT INTO items (section_id, order_index, item_hash, type, payload, answer, checker, assets)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [section, index, itemHash, type, payload, answer, checker, assets],
    );
  }
  return dataset;
}

it('npm start moves the files that items of the previous version embed, and changes nothing that is read', async () => {
  const names = (await readMigrations()).migrationDirectories.map(({ path }) => path);
  await migrateTo(url, names.slice(0, names.indexOf(ASSETS)));
  const data = randomBytes(300_000).toString('base64');
  const items = Array.from({ length: 60 }, (_, id) => ({
    id,
    inputs: { prompt: 'p' },
    assets: [{ mime_type: 'image/png', encoding: 'base64', data, n: id % 7 }],
  }));
  const id = await importAsOlder(items);
  const hashes = 'SELECT order_index, item_hash FROM items ORDER BY order_index';
  const before = await queryDatabase(url, hashes);

  const dataDir = await mkdtemp(join(tmpdir(), 'svc-older-'));
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }));
  await using service = await runService({ app: 'standalone', dataDir, env: { DATABASE_URL: url } });
  await expect
    .poll(() => service.log().filter(({ event }) => event === 'items.move'))
    .toEqual([expect.objectContaining({ items: 60, items_total: 60, moved: 60 })]);

  expect(await queryDatabase(url, hashes)).toEqual(before);
  expect(
    await queryDatabase(
      url,
      'SELECT count(linked_files)::int AS moved, max(octet_length(assets::text)) < 1000 AS small FROM items',
    ),
  ).toEqual([{ moved: 60, small: true }]);
  expect(await queryDatabase(url, 'SELECT byte_length::int AS bytes FROM assets')).toEqual([
    { bytes: 300_000 },
  ]);
  const lines = await (await fetch(`${service.url}/datasets/${id}/items.jsonl`)).text();
  expect(lines.trim().split('\n')).toEqual(items.map((item) => canonicalJson(item as never)));
  const link = `${service.url}/datasets/${id}/items?limit=1&assets=link`;
  const {
    data: [first],
  } = (await (await fetch(link)).json()) as { data: { item: { assets: { url: string }[] } }[] };
  const bytes = await (await fetch(new URL(first?.item.assets[0]?.url ?? '', service.url))).arrayBuffer();
  expect(Buffer.from(bytes).toString('base64')).toBe(data);
});
