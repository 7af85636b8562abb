import { writeAudit } from '../audit/actor.ts';
import { unchecked } from '../audit/operations.ts';
import type { StoreContext } from '../context.ts';
import { inTransaction } from '../postgres/pool.ts';

/** What an operator can change while the service runs. */
export interface Settings {
  /** How often a worker asks whether its work was cancelled: 250 to 60,000. */
  readonly cancellationCheckIntervalMs: number;
}

export const DEFAULT_SETTINGS: Settings = { cancellationCheckIntervalMs: 2_000 };

/** Names of the settings in the table, which are those of the API. */
const KEYS: Readonly<Record<keyof Settings, string>> = {
  cancellationCheckIntervalMs: 'cancellation_check_interval_ms',
};
/** The key that the cancellation check reads in its own query. */
export const CHECK_INTERVAL_KEY: string = KEYS.cancellationCheckIntervalMs;

/** A setting is a number. */
const MAX_VALUE_BYTES = 1_000;

/** Settings of all processes that share the database. Throws StoreError `unavailable` when it cannot be reached. */
export const createSettingsStore = (context: StoreContext) => unchecked(context, { get, update });

async function get({ pool }: StoreContext): Promise<Settings> {
  const { rows } = await pool.query<{ key: string; value: string }>(
    `SELECT key, value FROM settings WHERE key = ANY ($1) AND octet_length(value) <= ${MAX_VALUE_BYTES}`,
    [Object.values(KEYS)],
  );
  const stored = new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown]));
  const interval = stored.get(KEYS.cancellationCheckIntervalMs);
  return {
    cancellationCheckIntervalMs:
      typeof interval === 'number' ? interval : DEFAULT_SETTINGS.cancellationCheckIntervalMs,
  };
}

/** Changes the settings that are given, and returns all. The caller has checked their ranges. */
async function update(context: StoreContext, changes: Partial<Settings>): Promise<Settings> {
  const wanted = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ key: KEYS[name as keyof Settings], value: JSON.stringify(value) }));
  await inTransaction(context.pool, async (client) => {
    const { rows } = await client.query<{ key: string }>(
      `INSERT INTO settings (key, value) SELECT * FROM unnest($1::text[], $2::text[])
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now()
          WHERE settings.value <> excluded.value
        RETURNING key`,
      [wanted.map(({ key }) => key), wanted.map(({ value }) => value)],
    );
    const members = rows.map(({ key }) => key);
    if (members.length > 0)
      await writeAudit(client, 'settings.update', { kind: 'settings', id: null }, { members });
  });
  return await get(context);
}
