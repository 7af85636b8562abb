import { auditStatement } from '../audit/write-audit.ts';
import type { StoreContext } from '../context.ts';
import { guarded } from '../database/guarded.ts';

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
export interface SettingsStore {
  get(): Promise<Settings>;
  /** Changes those that are given, and answers with all. The caller has checked their ranges. */
  update(changes: Partial<Settings>): Promise<Settings>;
}

export function createSettingsStore({ pool, prisma }: Pick<StoreContext, 'pool' | 'prisma'>): SettingsStore {
  const get = async (): Promise<Settings> => {
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
  };
  return guarded({
    get,
    async update(changes) {
      const wanted = Object.entries(changes)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ({ key: KEYS[name as keyof Settings], value: JSON.stringify(value) }));
      await prisma.$transaction(async (client) => {
        const stored = await client.setting.findMany({
          where: { key: { in: wanted.map(({ key }) => key) } },
        });
        const changed = wanted.filter(
          ({ key, value }) => stored.find((one) => one.key === key)?.value !== value,
        );
        if (changed.length === 0) return;
        for (const { key, value } of changed) {
          const update = { value, updatedAt: new Date() };
          await client.setting.upsert({ where: { key }, create: { key, value }, update });
        }
        const members = changed.map(({ key }) => key);
        const { sql, values } = auditStatement(
          'settings.update',
          { kind: 'settings', id: null },
          { members },
        );
        await client.$executeRawUnsafe(sql, ...values);
      });
      return await get();
    },
  } satisfies SettingsStore);
}
