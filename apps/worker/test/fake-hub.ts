import type { HubClient, HubRow, ReadRowsOptions } from '@svc/hub-client';

export interface FakeHub extends Pick<HubClient, 'openDataset' | 'findDatasets'> {
  /** tokens that requests came with, in order; undefined for none */
  readonly tokens: readonly (string | undefined)[];
  /** rows that were handed out */
  readonly read: () => number;
}

export interface FakeHubOptions {
  readonly rows: number;
  readonly batchRows?: number;
  /** called before each batch with the number of its first row; a rejection breaks the dataset */
  readonly beforeBatch?: (firstRow: number, signal: AbortSignal | undefined) => Promise<void> | void;
  readonly openDataset?: () => void;
}

/** what a row counts as */
export const ROW_BYTES = 20;

/** A hub with one dataset of rows `{question, answer}`, made up as they are asked for. */
export function createFakeHub({ rows, batchRows = 1000, beforeBatch, openDataset }: FakeHubOptions): FakeHub {
  const tokens: (string | undefined)[] = [];
  let read = 0;
  async function* rowBatches(options: ReadRowsOptions = {}): AsyncGenerator<HubRow[], void, undefined> {
    for (let first = 0; first < rows; first += batchRows) {
      await beforeBatch?.(first, options.signal);
      options.signal?.throwIfAborted();
      const count = Math.min(batchRows, rows - first);
      read += count;
      yield Array.from({ length: count }, (_, index) => {
        const rowIndex = first + index;
        return {
          row: { question: `question ${rowIndex}`, answer: String(rowIndex) },
          rowIndex,
          split: 'train',
        };
      });
    }
  }
  return {
    tokens,
    read: () => read,
    findDatasets: async () => [],
    openDataset: async (reference) => {
      tokens.push(reference.token);
      openDataset?.();
      return {
        id: reference.path,
        revision: 'main',
        resolvedRevision: 'a'.repeat(40),
        subsets: ['default'],
        defaultSubset: 'default',
        splits: [{ subset: 'default', split: 'train', numRows: rows }],
        info: {},
        usedConvertedParquet: false,
        get readBytes() {
          return read * ROW_BYTES;
        },
        fileBytes: rows * ROW_BYTES,
        select: async ({ split } = {}) => ({
          subset: 'default',
          split: split ?? 'train',
          features: [
            { name: 'question', dtype: 'string' },
            { name: 'answer', dtype: 'string' },
          ],
          numRows: rows,
          splits: [{ subset: 'default', split: 'train', numRows: rows }],
          info: {},
          suggestedMapping: null,
          rowBatches,
          rows: () => {
            throw new Error('The service reads batches.');
          },
        }),
      };
    },
  };
}
