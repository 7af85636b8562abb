import type { MappableFeature, Mapping } from '@svc/jsonl-v23';
import type { CellBatch } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';

/** Which dataset of the hub is meant. */
export interface DatasetRef {
  /** `owner/name`, or a single legacy name */
  readonly path: string;
  /** branch, tag or commit; the default branch where absent */
  readonly revision?: string | undefined;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** time for everything that is done through the dataset; without end where absent */
  readonly budgetMs?: number | undefined;
  /** how hard to try again, where it differs from the hub's own habit */
  readonly retry?:
    | { readonly maxRetries?: number; readonly baseDelayMs?: number; readonly budgetMs?: number }
    | undefined;
}

/** A row with its place, in JSON form. */
export interface HubRow {
  readonly row: JsonObject;
  /** 0-based in its split */
  readonly rowIndex: number;
  readonly split: string;
}

/** A dataset of the hub at one commit. */
export interface HubDataset {
  readonly resolvedRevision: string;
  select(choice: {
    readonly subset?: string | undefined;
    readonly split?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<SplitReader>;
}

/** A slice of one subset, with what is known of it before a row is read. */
export interface SplitReader {
  readonly subset: string;
  /** the split expression, resolved when it was absent */
  readonly split: string;
  readonly features: readonly MappableFeature[];
  /** rows of the slice; null where only reading the data would tell */
  readonly numRows: number | null;
  readonly splits: readonly {
    readonly subset: string;
    readonly split: string;
    readonly numRows: number | null;
  }[];
  /** description, citation, homepage, license, class labels, ignored files, ... as known */
  readonly info: JsonObject;
  readonly suggestedMapping: Mapping | null;
  /** the error of the row at which looking for columns ended early */
  readonly unreadRow?: Error | undefined;
  rowBatches(options: {
    /** only these columns are read; all where absent */
    readonly columns?: readonly string[] | undefined;
    readonly limit?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<readonly HubRow[]>;
  /** The same rows as the texts of their cells. */
  cellBatches(options: {
    readonly columns?: readonly string[] | undefined;
    readonly limit?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<CellBatch>;
}

/** The hub, as the flows see it; `@svc/hub-client` fits it by shape. */
export interface Hub {
  openDataset(reference: DatasetRef): Promise<HubDataset>;
}
