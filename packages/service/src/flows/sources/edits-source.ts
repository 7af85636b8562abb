import { JsonlError } from '@svc/jsonl-v23';
import { splitLines } from '@svc/jsonl-v23/internal';
import type { DraftContent } from '@svc/store';
import type { ImportSource } from '../import-dataset.ts';
import type { ItemText } from '../threads/read-edits.ts';
import type { FilesSourceOptions } from './files-source.ts';

/** An item that replaces another. */
export interface EditedItem {
  readonly item: ItemText;
  /** JSON Pointer of the item in the request, for errors. */
  readonly path: string;
}

/**
 * Items that replace others, in the order of their edits.
 *
 * @param options.origins of this service: links to its stored files become these files
 */
export function editsSource(
  edited: readonly EditedItem[],
  { maxLineBytes, maxDepth, origins }: FilesSourceOptions & { readonly origins: readonly string[] },
): ImportSource {
  return {
    start: { source: 'file' },
    toError({ code, message, location: { line = 1, path = '' }, cause }) {
      return new JsonlError(code, message, { path: `${edited[line - 1]?.path ?? ''}${path}` }, { cause });
    },
    async write(draft, report, signal) {
      if (edited.length > 0) {
        const lines = splitLines(linesOf(edited), { maxLineBytes, signal });
        try {
          const options = { file: 'edits', maxLineBytes, maxDepth, origins };
          await draft.section('default', { isNamed: false }).writeLines(lines, options);
        } catch (error) {
          if (!(error instanceof JsonlError && error.code === 'line_too_long')) throw error;
          report.faults.addError(error);
        }
      }
      return NO_DATASET;
    },
  };
}

async function* linesOf(edited: readonly EditedItem[]): AsyncGenerator<Uint8Array> {
  for (const { item } of edited) yield item.line;
}

/** Edits make no dataset. */
const NO_DATASET: DraftContent = {
  dataset: { name: '', description: null, notes: null, source: 'file', schema: '{}' },
};
