import type { Socket } from 'node:net';
import pg from 'pg';

/** The connection of an export or a table, from the statement that begins its snapshot. */
export interface Snapshot {
  /** What the database has sent since then. */
  readBytes(): number;
}

/** Records the snapshots that connections of this process begin, in order, until it is disposed. */
export function recordSnapshots(): { readonly snapshots: readonly Snapshot[] } & Disposable {
  const snapshots: Snapshot[] = [];
  const { query } = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]): unknown {
    if (String(args[0]).includes('REPEATABLE READ READ ONLY')) {
      const { connection } = this as unknown as { readonly connection: { readonly stream: Socket } };
      const { stream } = connection;
      const bytesBefore = stream.bytesRead;
      snapshots.push({ readBytes: () => stream.bytesRead - bytesBefore });
    }
    return query.apply(this, args);
  } as never;
  return {
    snapshots,
    [Symbol.dispose]: () => {
      pg.Client.prototype.query = query as never;
    },
  };
}
