import type { Semaphore } from '../concurrency/index.ts';
import type { AssetStore } from './assets/asset-store.ts';
import type { Pool } from './postgres/pool.ts';

export interface StoreContext {
  /** The one pool of connections: COPY and plain statements draw on it. */
  readonly pool: Pool;
  readonly assets: AssetStore;
  readonly imports: Semaphore;
  /** Bounds the connections that exports hold, so that slow readers do not block imports. */
  readonly exports: Semaphore;
  /** Bounds the connections of searches and comparisons, which read whole datasets for one page. */
  readonly searches: Semaphore;
  /** Bounds the memory of large pages: its permits are bytes. */
  readonly largePages: Semaphore;
  /** What an item or a result may have; a larger one is not read. */
  readonly maxItemBytes: number;
  /** What an item may have with the files that it embeds, which are never in one text. */
  readonly maxWholeBytes: number;
}
