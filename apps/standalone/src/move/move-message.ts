import type { MoveProgress, StoreOptions } from '@svc/store';

/** What the thread is started with. */
export type MoveOptions = Pick<StoreOptions, 'url' | 'assetStore'>;

/** What it says after each batch. */
export type MoveMessage = MoveProgress;
