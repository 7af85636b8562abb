import type { JsonObject } from '@svc/jsonl-v23/json';
import { type RowFacts, rowsSchema } from '@svc/tabular/internal';
import { withoutCredentials } from '../repository/validate-path.ts';
import type { SplitReader } from './split-reader.ts';

/** What a person asked for. */
export interface DatasetRef {
  readonly path: string;
  readonly split?: string | undefined;
  /** What all subsets became; without it, there is one. */
  readonly subsets?: 'sections' | 'tags' | undefined;
  readonly revision?: string | undefined;
}

/**
 * The `schema` of a dataset that was made of a hub dataset: `path`, `split` and `revision` as sent, without possible
 * tokens, and as resolved.
 */
export function hubSchema(
  { path, split, subsets, revision }: DatasetRef,
  { reader, resolvedRevision }: { readonly reader: SplitReader; readonly resolvedRevision: string },
  rows: Omit<RowFacts, 'features'>,
): JsonObject {
  return {
    source: 'hub',
    config: {
      path: withoutCredentials(path),
      split: split ?? null,
      ...(subsets === undefined ? { subset: reader.subset } : { subset: null, subsets }),
      revision: revision ?? null,
      resolved_revision: resolvedRevision,
      resolved_split: reader.split,
    },
    info: reader.info,
    ...rowsSchema({ ...rows, features: reader.features }),
  };
}
