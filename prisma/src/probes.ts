import { createPool } from '@svc/postgres';
import { StoreError } from './database/errors.ts';
import { isMigrated, migrationNames } from './migrate/migrate.ts';
import { type QueueSizes, queueSizes } from './queue/queue-sizes.ts';

/** Answers what supervisors ask, on separate connections: it waits neither for those of other work nor for new ones. */
export interface Probes {
  /** See `Store.ready`. Those who ask together share an answer; a good one lasts for a second. */
  ready(): Promise<Readiness>;
  /** See `Store.queueSizes`. */
  queueSizes(): Promise<QueueSizes>;
  close(): Promise<void>;
}

interface Readiness {
  readonly database: boolean;
  readonly queue: boolean;
}

const TIMEOUT_MS = 2_000;
/** How long the database counts as ready after it was: nobody needs a key to ask, and each answer would take two statements. */
const READY_MS = 1_000;
const CONNECTIONS = 2;

/** Makes the probes of a database. Connects on first use. @param url postgresql:// */
export function createProbes(url: string): Probes {
  const pool = createPool({
    url,
    applicationName: 'svc-probes',
    size: CONNECTIONS,
    keepIdle: true,
    silenceMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
  });
  /** Migrations of this version; they do not change while the process runs. */
  let names: readonly string[] | undefined;
  const migrated = async (): Promise<boolean> => {
    names ??= await migrationNames();
    return await isMigrated(pool, names);
  };
  const check = async (): Promise<Readiness> => {
    const [database, queue] = await Promise.all([
      isTrue(migrated()),
      isTrue(queueSizes(pool).then(() => true)),
    ]);
    validUntil = database && queue ? performance.now() + READY_MS : 0;
    return { database, queue };
  };
  let checked: Promise<Readiness> | undefined;
  let validUntil = 0;
  return {
    ready() {
      if (checked === undefined || performance.now() >= validUntil) {
        validUntil = Number.POSITIVE_INFINITY;
        checked = check();
      }
      return checked;
    },
    queueSizes: () => inTime(queueSizes(pool)),
    close: () => pool.end(),
  };
}

async function isTrue(query: Promise<boolean>): Promise<boolean> {
  return await inTime(query).catch(() => false);
}

/** Waits for a query for a short time only. */
async function inTime<T>(query: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new StoreError('unavailable', 'Timed out waiting for the database.')),
    TIMEOUT_MS,
  );
  try {
    return await Promise.race([query, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
