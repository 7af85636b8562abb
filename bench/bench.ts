import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createStore } from '@svc/service/store';
import { type Sample, timed } from './measure.ts';
import { type Service, startService } from './service.ts';
import { shell, shellOutput } from './shell.ts';

/** What the cases share: a folder, a database, and the built service on it. */
export interface Bench {
  readonly folder: string;
  /** Environment in which `psql "$PGURL"` reaches the database. */
  readonly psql: { readonly PGURL: string; readonly PGOPTIONS: string };
  /** Runs the service for a while. */
  withService<T>(use: (service: Service) => Promise<T>, env?: Readonly<Record<string, string>>): Promise<T>;
  /** Empties the tables, and settles. */
  empty(): Promise<void>;
  /** Has the server count what the tables hold, as autovacuum does, and settles. */
  analyze(): Promise<void>;
  /** Prepares look-ups by hash, as a worker does within a minute after an import. */
  prepareLookUps(): Promise<void>;
  /** Bytes that the database takes on disk. */
  databaseBytes(): Promise<number>;
  /** Has the server and the system write to disk what they still owe it, so that no case pays for the one before. */
  settle(): Promise<void>;
}

/** Small ones of a kind that a service has done before it is measured: it runs for weeks, and compiles its code once. */
export const WARM_UPS = 10;

/** @param url the database */
export function createBench(folder: string, url: string): Bench {
  const psql = { PGURL: url, PGOPTIONS: '-c client_min_messages=warning' };
  const data = join(folder, 'service');
  const statement = (sql: string): Promise<void> => shell(`psql -q "$PGURL" -c '${sql}'`, psql);
  const settle = async (): Promise<void> => {
    await statement('CHECKPOINT');
    await shell('sync', psql);
  };
  return {
    folder,
    psql,
    async withService(use, env = {}) {
      await mkdir(data, { recursive: true });
      const service = await startService(url, data, env);
      try {
        return await use(service);
      } finally {
        await service.stop();
      }
    },
    async empty() {
      const truncate = 'TRUNCATE datasets, items, loose_parts, assets, released_assets CASCADE';
      // What the service still makes of them in the background takes the tables in another order: a deadlock.
      await statement(truncate).catch(() => statement(truncate));
      await settle();
    },
    async analyze() {
      await statement('VACUUM ANALYZE');
      await settle();
    },
    async prepareLookUps() {
      await using store = createStore({ url });
      await store.datasets.indexHashes();
    },
    async databaseBytes() {
      const output = await shellOutput(
        `psql -qAt "$PGURL" -c 'SELECT pg_database_size(current_database())'`,
        psql,
      );
      return Number(output);
    },
    settle,
  };
}

/** Times what a service does, with the most memory that it has held. */
export async function sampleOf(service: Service, work: () => Promise<unknown>): Promise<Sample> {
  const sample = await timed(work);
  return { ...sample, peakBytes: service.peakBytes() };
}
