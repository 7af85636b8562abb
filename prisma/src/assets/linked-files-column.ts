import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { StoreError } from '../database/errors.ts';

/** Reads the column `items.linked_files`: the files in JSON. @throws StoreError `corrupt` */
export function readLinkedFiles(column: string | null): readonly LinkedFile[] {
  if (column === null) return NONE;
  try {
    return JSON.parse(column) as LinkedFile[];
  } catch (cause) {
    throw new StoreError('corrupt', 'Cannot read the linked files of an item: the text is damaged.', {
      cause,
    });
  }
}

const NONE: readonly LinkedFile[] = [];
