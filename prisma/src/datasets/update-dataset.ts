import { inTransaction } from '@svc/postgres';
import type pg from 'pg';
import { writeAudit } from '../audit/write-audit.ts';
import { checkOwnHandle } from '../database/actor.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { isUuid, storableText } from '../database/values.ts';
import { checkHandle, toHandleTaken } from '../versions/handle.ts';

/** Members to change; absent ones stay, null removes the text. */
export interface DatasetChanges {
  readonly name?: string | undefined;
  readonly handle?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly notes?: string | null | undefined;
}

const MEMBERS = ['name', 'handle', 'description', 'notes'] as const;

/** See `DatasetStore.update`. */
export async function updateDataset(pool: pg.Pool, id: string, changes: DatasetChanges): Promise<void> {
  if (!isUuid(id)) throw datasetNotFound(id);
  if (changes.handle === null) checkOwnHandle(null);
  else if (changes.handle !== undefined) checkHandle(changes.handle);
  const stated = MEMBERS.filter((name) => changes[name] !== undefined);
  for (const name of stated) if (changes[name] != null) storableText(name, changes[name]);
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<Readonly<Record<(typeof MEMBERS)[number], boolean>>>(
      `SELECT ${MEMBERS.map((name, index) => `${name} IS DISTINCT FROM $${index + 2}::text AS ${name}`).join(', ')}
       FROM datasets WHERE id = $1 FOR NO KEY UPDATE`,
      [id, ...MEMBERS.map((name) => changes[name] ?? null)],
    );
    const [differs] = rows;
    if (differs === undefined) throw datasetNotFound(id);
    const changed = stated.filter((name) => differs[name]);
    for (const [action, names] of [
      ['dataset.rename', ['name', 'handle']],
      ['dataset.update', ['description', 'notes']],
    ] as const) {
      const members = changed.filter((name) => (names as readonly string[]).includes(name));
      if (members.length > 0) await writeAudit(client, action, { kind: 'dataset', id }, { members });
    }
    // The database's clock, as for `created_at`.
    const assignments = [
      'updated_at = clock_timestamp()',
      ...stated.map((name, index) => `${name} = $${index + 2}`),
    ];
    await client
      .query(`UPDATE datasets SET ${assignments.join(', ')} WHERE id = $1`, [
        id,
        ...stated.map((name) => changes[name]),
      ])
      .catch((error: unknown) => {
        throw toHandleTaken(error, changes.handle);
      });
  });
}
