import type { SourceLocation } from '../source-location.ts';

/** Why a row cannot be read. */
export interface UnreadRow {
  readonly message: string;
  readonly location: SourceLocation;
}

/**
 * Rows of a batch that could not be read, by their index in the batch. Only the first {@link MAX_UNREAD_REASONS} have a
 * reason, the others null: every list of such rows is as long, and a file may have millions of them.
 */
export type UnreadRows = ReadonlyMap<number, UnreadRow | null>;

export const MAX_UNREAD_REASONS = 100;

/** For a row without a reason. */
export const NO_REASON: UnreadRow = { message: 'The row cannot be read.', location: {} };
