import { writeAudit } from '../audit/actor.ts';
import { unchecked } from '../audit/operations.ts';
import type { StoreContext } from '../context.ts';
import { inTransaction } from '../postgres/pool.ts';

/** What an operator can change while the service runs. */
export interface Settings {
  /** How often a worker asks whether its work was cancelled: 250 to 60,000. */
  readonly cancellationCheckIntervalMs: number;
}

const DEFAULT_INTERVAL_MS = 2_000;
/** Name of the setting in the table, which is that of the API. */
const INTERVAL = 'cancellation_check_interval_ms';

/** SQL for the interval as it is stored. */
export const STORED_INTERVAL = `(SELECT value FROM settings WHERE key = '${INTERVAL}' AND octet_length(value) <= 1000)`;

/** @param stored what {@link STORED_INTERVAL} gives */
export function toInterval(stored: string | null | undefined): number {
  const interval = Number(stored ?? Number.NaN);
  return Number.isFinite(interval) ? interval : DEFAULT_INTERVAL_MS;
}

/** Settings of all processes that share the database. Throws StoreError `unavailable` when it cannot be reached. */
export const createSettingsStore = (context: StoreContext) => unchecked(context, { get, update });

async function get({ pool }: StoreContext): Promise<Settings> {
  const { rows } = await pool.query<{ value: string | null }>(`SELECT ${STORED_INTERVAL} AS value`);
  return { cancellationCheckIntervalMs: toInterval(rows[0]?.value) };
}

/** Changes the settings that are given, and returns all. The caller has checked their ranges. */
async function update(
  context: StoreContext,
  { cancellationCheckIntervalMs }: Partial<Settings>,
): Promise<Settings> {
  if (cancellationCheckIntervalMs !== undefined) {
    await inTransaction(context.pool, async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO settings (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now()
           WHERE settings.value <> excluded.value`,
        [INTERVAL, JSON.stringify(cancellationCheckIntervalMs)],
      );
      if (rowCount === 0) return;
      await writeAudit(client, 'settings.update', { kind: 'settings', id: null }, { members: [INTERVAL] });
    });
  }
  return await get(context);
}
