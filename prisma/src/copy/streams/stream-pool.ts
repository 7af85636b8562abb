import type pg from 'pg';

/** Connections for the rows of large imports, which those that work at the same time share. */
export class StreamPool {
  readonly pool: pg.Pool;
  #free: number;

  /** @param size connections of the pool */
  constructor(pool: pg.Pool, size: number) {
    this.pool = pool;
    this.#free = size;
  }

  /** Takes what is free, without waiting; disposing returns it. Null if that is not more than one connection. */
  take(): ({ readonly count: number } & Disposable) | null {
    const count = this.#free;
    if (count < 2) return null;
    this.#free = 0;
    let isTaken = true;
    return {
      count,
      [Symbol.dispose]: () => {
        if (isTaken) this.#free += count;
        isTaken = false;
      },
    };
  }
}
