import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../../test/store/template-db.ts';
import { createPool } from '../postgres/pool.ts';

const PROGRAM = fileURLToPath(new URL('../../../test/store/make-changes.ts', import.meta.url));
const ROUNDS = 25;

it('has no row without its change, and no change without its row, whenever processes are killed', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { url, drop } = await createTestDatabase();
  cleanUp.defer(drop);
  const pool = createPool({ url, size: 2 });
  cleanUp.defer(() => pool.end());
  for (let round = 0; round < ROUNDS; round += 1) {
    const processes = ['Ada', 'Ben'].map((name) =>
      spawn(process.execPath, [PROGRAM, url, name], { stdio: 'ignore' }),
    );
    await delay(1_500 + Math.random() * 1_000);
    for (const one of processes) one.kill('SIGKILL');
    await Promise.all(processes.map((one) => once(one, 'exit')));
  }
  // What a killed process had sent may still be done.
  await expect
    .poll(
      async () =>
        (await pool.query(`SELECT FROM pg_stat_activity WHERE application_name = 'svc-store'`)).rowCount,
    )
    .toBe(0);
  const { rows } = await pool.query(
    `SELECT d.id IS NOT NULL AS there, coalesce(d.notes, '0')::int AS updates, a.*
     FROM datasets d FULL JOIN (
       SELECT object_id::uuid AS id, count(*) FILTER (WHERE action = 'dataset.create')::int AS created,
         count(*) FILTER (WHERE action = 'dataset.update')::int AS updated,
         count(*) FILTER (WHERE action = 'dataset.delete')::int AS deleted, count(DISTINCT actor)::int AS actors
       FROM audit GROUP BY object_id
     ) a USING (id)`,
  );
  expect(rows.length).toBeGreaterThan(ROUNDS);
  for (const { there, updates, created, updated, deleted, actors } of rows) {
    expect({ created, deleted, actors }).toEqual({ created: 1, deleted: there ? 0 : 1, actors: 1 });
    expect(updated).toBe(there ? updates : 3);
  }
}, 600_000);
