import type pg from 'pg';
import { PgBoss } from 'pg-boss';

/** What a worker finds in a task. The rest it reads from the run or job itself. */
export interface TaskData {
  /** the run or the job */
  readonly id: string;
  /** the request that enqueued it */
  readonly request_id: string | null;
}

/** The queues: a run, an asynchronous import from the hub, an asynchronous upload. */
export type QueueName = 'run' | 'import' | 'upload';
export const QUEUE_NAMES: readonly QueueName[] = ['run', 'import', 'upload'];

/** The database schema of pg-boss, beside our own tables. */
export const QUEUE_SCHEMA = 'pgboss';

/**
 * Options of every queue. A worker that dies is noticed after `heartbeatSeconds` and its task goes on
 * elsewhere; three tries in all, the second after 2 to 4 seconds, the third after 4 to 8.
 */
export const QUEUE_OPTIONS: {
  readonly retryLimit: number;
  readonly retryDelay: number;
  readonly retryBackoff: boolean;
  readonly heartbeatSeconds: number;
  readonly expireInSeconds: number;
} = {
  retryLimit: 2,
  retryDelay: 2,
  retryBackoff: true,
  heartbeatSeconds: 12,
  // the longest that pg-boss allows to a try
  expireInSeconds: 24 * 60 * 60 - 1,
};

/** Puts tasks on their queue as part of the caller's transaction: a task exists exactly when its row does. */
export interface Queue {
  /**
   * To be awaited before the transaction begins: it may need a connection of the pool, which transactions that wait
   * for one another's could all hold.
   */
  prepare(): Promise<void>;
  enqueue(client: pg.ClientBase, name: QueueName, data: TaskData): Promise<void>;
  close(): Promise<void>;
}

/** Makes the sending side of the queue on the store's pool; it connects when it is first prepared. */
export function createQueue(pool: pg.Pool): Queue {
  let starting: Promise<PgBoss> | undefined;
  const started = (): Promise<PgBoss> => {
    starting ??= createBoss(pool, { migrate: false })
      .start()
      .catch((error: unknown) => {
        starting = undefined; // the next task tries again
        throw error;
      });
    return starting;
  };
  return {
    async prepare() {
      await started();
    },
    async enqueue(client, name, data) {
      const boss = await started();
      // The task has the row's id: from either the other is found.
      await boss.send(name, data, {
        id: data.id,
        db: { executeSql: (text, values) => client.query(text, values) },
      });
      // Workers that wait for tasks hear of this one when the transaction commits.
      await client.query(`SELECT pg_notify('svc_task', $1)`, [name]);
    },
    async close() {
      const boss = await starting?.catch(() => undefined);
      await boss?.stop({ graceful: false, close: false });
    },
  };
}

/**
 * Installs or updates the queue's tables and makes the queues that are missing or made otherwise. Safe to run from many
 * processes at once; two quick queries when there is nothing to do.
 */
export async function migrateQueue(pool: pg.Pool): Promise<void> {
  const boss = createBoss(pool, { migrate: true });
  await boss.start();
  try {
    const present = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
    for (const name of QUEUE_NAMES) {
      const queue = present.get(name);
      if (queue === undefined) await boss.createQueue(name, QUEUE_OPTIONS);
      else if (hasOtherOptions(queue)) await boss.updateQueue(name, QUEUE_OPTIONS);
    }
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}

/** A version before this one made it. */
function hasOtherOptions(queue: object): boolean {
  const options = new Map<string, unknown>(Object.entries(queue));
  return Object.entries(QUEUE_OPTIONS).some(([option, value]) => options.get(option) !== value);
}

function createBoss(pool: pg.Pool, options: { readonly migrate: boolean }): PgBoss {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema: QUEUE_SCHEMA,
    migrate: options.migrate,
    supervise: false,
    schedule: false,
  });
  boss.on('error', () => undefined); // what we ask for is answered by its own promise
  return boss;
}

/** How many tasks stand where, on all queues; those that are done or cancelled are not counted. */
export type QueueSizes = Readonly<Record<'queued' | 'retry' | 'running' | 'failed', number>>;

/** See `Store.queueSizes`. */
export async function queueSizes(pool: pg.Pool): Promise<QueueSizes> {
  const { rows } = await pool.query<Record<string, string>>(
    `SELECT count(*) FILTER (WHERE state = 'created') AS queued, count(*) FILTER (WHERE state = 'retry') AS retry,
       count(*) FILTER (WHERE state = 'active') AS running, count(*) FILTER (WHERE state = 'failed') AS failed
     FROM ${QUEUE_SCHEMA}.job WHERE name = ANY($1) AND state NOT IN ('completed', 'cancelled')`,
    [QUEUE_NAMES],
  );
  const count = (state: keyof QueueSizes): number => Number(rows[0]?.[state] ?? 0);
  return {
    queued: count('queued'),
    retry: count('retry'),
    running: count('running'),
    failed: count('failed'),
  };
}
