import { createStore, type Store } from '../../src/store/create-store.ts';
import { createPool, type Pool } from '../../src/store/postgres/pool.ts';
import { createTestDatabase } from './template-db.ts';

/** A store on a database of its own, and connections past it. */
export interface TestStore extends AsyncDisposable {
  readonly store: Store;
  readonly pool: Pool;
}

export async function openTestStore(): Promise<TestStore> {
  await using opening = new AsyncDisposableStack();
  const { url, drop } = await createTestDatabase();
  opening.defer(drop);
  const store = createStore({ url });
  opening.defer(() => store.close());
  const pool = createPool({ url, size: 4 });
  opening.defer(() => pool.end());
  const open = opening.move();
  return { store, pool, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
