import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { StoreError } from '../database/errors.ts';

/** What the column `items.linked_files` has of each file, in the order of {@link toFile}. */
type StoredFile = [string, number, number, string, string, string, number];

/** The text of the column `items.linked_files`, which is null without a file. */
export const writeLinkedFiles = (files: readonly LinkedFile[]): string => JSON.stringify(files.map(toStored));

function toStored({ pointer, start, end, before, after, sha256, byteLength }: LinkedFile): StoredFile {
  return [pointer, start, end, before, after, sha256, byteLength];
}

function toFile([pointer, start, end, before, after, sha256, byteLength]: StoredFile): LinkedFile {
  return { pointer, start, end, before, after, sha256, byteLength };
}

/** Reads the column `items.linked_files`. @throws StoreError `corrupt` */
export function readLinkedFiles(column: string | null): readonly LinkedFile[] {
  if (column === null) return NONE;
  try {
    return (JSON.parse(column) as StoredFile[]).map(toFile);
  } catch (cause) {
    throw new StoreError('corrupt', 'Cannot read the linked files of an item: the text is damaged.', {
      cause,
    });
  }
}

const NONE: readonly LinkedFile[] = [];
