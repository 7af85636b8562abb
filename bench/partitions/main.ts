/**
 * `node bench/partitions/main.ts [--sections 40] [--items 10000] [--partitions 16] [--rounds 3]`
 *
 * The table of items as it is, and the same rows in partitions by hash of the section: deletes one section among many,
 * vacuums, and reads a page. Prints the CPU time of the server's process, the smallest of all rounds. Needs an installed
 * PostgreSQL (`pg_basebackup`).
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { NO_CLUSTER, startCluster } from '../../prisma/test/postgres-cluster.ts';
import { cpuSecondsOf } from '../mixed/cpu-seconds.ts';

const { values: options } = parseArgs({
  options: {
    sections: { type: 'string', default: '40' },
    items: { type: 'string', default: '10000' },
    partitions: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
  },
});
const [sections, items, partitions] = [options.sections, options.items, options.partitions].map(Number);
if (NO_CLUSTER !== undefined) throw new Error(NO_CLUSTER);

await using cluster = await startCluster();
const client = new pg.Client({ connectionString: cluster.primary.url });
// The server ends first.
client.on('error', () => undefined);
await client.connect();
const [{ pid }] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
const run = async (...statements: readonly string[]): Promise<number> => {
  const before = cpuSecondsOf(pid);
  for (const statement of statements) await client.query(statement);
  return cpuSecondsOf(pid) - before;
};

await run(
  'SET max_parallel_maintenance_workers = 0',
  `INSERT INTO datasets (id, name, source, version_hash, schema, section_count, item_count, asset_count)
   VALUES (gen_random_uuid(), 'd', 'file', repeat('0', 64), '{}', 1, 1, 0)`,
  `INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash)
   SELECT gen_random_uuid(), (SELECT id FROM datasets), 's', number, ${items}, sha256('') FROM generate_series(1, ${sections}) AS number`,
  'CREATE TABLE parted (LIKE items INCLUDING ALL) PARTITION BY HASH (section_id)',
  ...Array.from(
    { length: partitions ?? 0 },
    (_, index) =>
      `CREATE TABLE parted_${index} PARTITION OF parted FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${index})`,
  ),
);

interface Result {
  readonly label: string;
  readonly seconds: number[];
}
const results = new Map<string, Result>();
const note = (what: string, table: string, seconds: number): void => {
  const key = `${what} ${table}`;
  const result = results.get(key) ?? { label: what, seconds: [] };
  result.seconds.push(seconds);
  results.set(key, result);
};

for (let round = 0; round < Number(options.rounds); round += 1) {
  for (const table of ['items', 'parted']) {
    await run(`TRUNCATE ${table}`);
    const fill = `INSERT INTO ${table} (section_id, order_index, item_hash, type, payload)
      SELECT s.id, number, sha256(number::text::bytea), 'freeform', json_build_object('id', number, 'text', repeat('x', 480))
      FROM sections s, generate_series(0, ${items} - 1) AS number`;
    await run(fill, `VACUUM ANALYZE ${table}`);
    const { rows } = await client.query('SELECT id FROM sections ORDER BY order_index LIMIT 2');
    const page = `SELECT i.payload::text FROM (VALUES ('${rows[1].id}'::uuid)) AS s (id) JOIN ${table} i ON i.section_id = s.id
      AND i.order_index BETWEEN 5000 AND 5049 ORDER BY i.order_index`;
    note('2,000 pages of 50 items', table, await run(...Array.from({ length: 2_000 }, () => page)));
    const plan = Array.from({ length: 2_000 }, () => `EXPLAIN ${page}`);
    note('2,000 plans of them', table, await run(...plan));
    note(
      'DELETE of one section',
      table,
      await run(`DELETE FROM ${table} WHERE section_id = '${rows[0].id}'`),
    );
    note('VACUUM afterwards', table, await run(`VACUUM ${table}`));
    if (table === 'parted') continue;
    const noted = `INSERT INTO loose_sections SELECT '${rows[1].id}', pg_current_xact_id()::text::bigint`;
    const request = [noted, `DELETE FROM sections WHERE id = '${rows[1].id}'`];
    note('what the request of a deletion does', table, await run('BEGIN', ...request, 'ROLLBACK'));
  }
}
const RESULTS = 100_000;
for (let round = 0; round < Number(options.rounds); round += 1) {
  await run(
    `INSERT INTO runs (id, dataset_id, dataset_version_hash, config, total)
     SELECT gen_random_uuid(), id, version_hash, '{}', ${RESULTS} FROM datasets`,
    `INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, status, output)
     SELECT (SELECT id FROM runs), 0, number, 1, 's', 'ok', to_json(repeat('x', 200))::text FROM generate_series(1, ${RESULTS}) AS number`,
    'VACUUM ANALYZE run_results',
  );
  note(`DELETE of a run of ${RESULTS} results`, 'items', await run('DELETE FROM runs'));
}
const least = (what: string, table: string): string => {
  const found = results.get(`${what} ${table}`);
  return found === undefined ? '' : `${Math.min(...found.seconds).toFixed(2)} s`;
};
console.log(`${sections} sections of ${items} items`);
console.log(`| CPU time of the server | one table | ${partitions} partitions |`);
console.log('|---|---|---|');
for (const what of new Set([...results.values()].map(({ label }) => label))) {
  console.log(`| ${what} | ${least(what, 'items')} | ${least(what, 'parted')} |`);
}
await client.end();
