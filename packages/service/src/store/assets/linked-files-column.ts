import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { StoreError } from '../database/errors.ts';

/** What the column `items.linked_files` has of each file, in this order. */
const MEMBERS = ['pointer', 'start', 'end', 'before', 'after', 'sha256', 'byteLength'] as const;

/** The text of the column `items.linked_files`, which is null without a file. */
export const writeLinkedFiles = (files: readonly LinkedFile[]): string =>
  JSON.stringify(files.map((file) => MEMBERS.map((name) => file[name])));

/** Reads the column `items.linked_files`. @throws StoreError `corrupt` */
export function readLinkedFiles(column: string | null): readonly LinkedFile[] {
  if (column === null) return NONE;
  try {
    return (JSON.parse(column) as unknown[][]).map(
      (values) => Object.fromEntries(MEMBERS.map((name, at) => [name, values[at]])) as unknown as LinkedFile,
    );
  } catch (cause) {
    throw new StoreError('corrupt', 'Cannot read the linked files of an item: the text is damaged.', {
      cause,
    });
  }
}

const NONE: readonly LinkedFile[] = [];
