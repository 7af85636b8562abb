import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { StoreError } from '../database/errors.ts';

/** One file in the column `items.linked_files`. */
type StoredFile = [
  pointer: string,
  start: number,
  end: number,
  before: string,
  after: string,
  sha256: string,
  byteLength: number,
];

const NONE: readonly LinkedFile[] = [];

/** Reads the column `items.linked_files`. @throws StoreError `corrupt` */
export function readLinkedFiles(column: string | null): readonly LinkedFile[] {
  if (column === null) return NONE;
  return parse(column).map(([pointer, start, end, before, after, sha256, byteLength]) => ({
    pointer,
    start,
    end,
    before,
    after,
    sha256,
    byteLength,
  }));
}

function parse(column: string): readonly StoredFile[] {
  try {
    return JSON.parse(column) as StoredFile[];
  } catch (cause) {
    throw new StoreError('corrupt', 'Cannot read the linked files of an item: the text is damaged.', {
      cause,
    });
  }
}

/** Writes the column `items.linked_files`; null without a file. */
export function writeLinkedFiles(files: readonly LinkedFile[]): string | null {
  if (files.length === 0) return null;
  return JSON.stringify(
    files.map(
      ({ pointer, start, end, before, after, sha256, byteLength }): StoredFile => [
        pointer,
        start,
        end,
        before,
        after,
        sha256,
        byteLength,
      ],
    ),
  );
}
