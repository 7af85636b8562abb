import type pg from 'pg';
import { setPipelining, socketOf } from './pg-internals.ts';

/** Starts a transaction that writes, without a time limit for its statements. */
const BEGIN_WRITE = 'BEGIN; SET LOCAL statement_timeout = 0';

/** A transaction on its own connection; disposing it rolls back what was not committed. */
export class Transaction implements AsyncDisposable {
  readonly client: pg.PoolClient;
  #isOpen = true;

  private constructor(client: pg.PoolClient) {
    this.client = client;
    client.on('error', ignore);
  }

  /** Takes a connection of the pool and starts a transaction. @param statement that starts it */
  static async begin(pool: pg.Pool, statement: string = BEGIN_WRITE): Promise<Transaction> {
    const transaction = new Transaction(await pool.connect());
    try {
      await transaction.client.query(statement);
      return transaction;
    } catch (error) {
      await transaction[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Takes a connection of the pool and starts a transaction that writes, with its first statements: one round trip.
   *
   * @param send queries the client before it returns, and not later; no COPY
   */
  static async beginWith<const T extends readonly Promise<unknown>[]>(
    pool: pg.Pool,
    send: (client: pg.PoolClient) => T,
  ): Promise<{ readonly transaction: Transaction; readonly results: Results<T> }> {
    const transaction = new Transaction(await pool.connect());
    const { client } = transaction;
    try {
      const sent = sendTogether(client, () => [client.query(BEGIN_WRITE), ...send(client)]);
      const [, ...results] = await sent;
      return { transaction, results: results as unknown as Results<T> };
    } catch (error) {
      await transaction[Symbol.asyncDispose]();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await this.client.query('COMMIT');
    this.#close(false);
  }

  /** Rolls back, unless it is committed, and returns the connection to the pool: clean, or not at all. Never throws. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    const isBroken = await this.client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    this.#close(isBroken);
  }

  #close(isBroken: boolean): void {
    this.#isOpen = false;
    this.client.off('error', ignore);
    this.client.release(isBroken);
  }
}

/** Runs `work` in one transaction; a throw rolls back. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  statement?: string,
): Promise<T> {
  await using transaction = await Transaction.begin(pool, statement);
  const result = await work(transaction.client);
  await transaction.commit();
  return result;
}

/** A connection that breaks fails the query that uses it. */
const ignore = (): void => undefined;

/** What promises resolve to. */
export type Results<T extends readonly Promise<unknown>[]> = {
  -readonly [Index in keyof T]: Awaited<T[Index]>;
};

/**
 * Sends the statements of `send` in one write, each without waiting for the result of the one before: they share a round
 * trip to the server, which runs them in order. The client must be idle, and no statement may be a COPY.
 *
 * @param send queries the client before it returns, and not later
 * @throws what the first statement that failed says, after the last one has ended
 */
export async function sendTogether<const T extends readonly Promise<unknown>[]>(
  client: pg.ClientBase,
  send: () => T,
): Promise<Results<T>> {
  const socket = socketOf(client);
  setPipelining(client, true);
  socket.cork();
  let sent: T;
  try {
    sent = send();
  } finally {
    socket.uncork();
  }
  await Promise.allSettled(sent);
  setPipelining(client, false);
  return (await Promise.all(sent)) as Results<T>;
}
