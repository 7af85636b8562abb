import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';

/** A section as a writer takes it from wherever it is stored. */
export interface ExportSection {
  readonly name: string;
  readonly itemCount: number;
  /** 32 bytes. */
  readonly sectionHash: Uint8Array;
  /**
   * Size and SHA-256 of the section's canonical lines, where they were noted when it was stored: then none of its items
   * embeds a file, and writing starts without reading it first. Null where they are not known.
   */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
  /** The stored parts of its items in order, in batches of any size. May be asked for twice. */
  items(signal?: AbortSignal): AsyncIterable<readonly ItemParts[]>;
  /** One item again, for the files that it embeds; asked for only where `exportFile` is null. */
  itemAt(orderIndex: number, signal?: AbortSignal): Promise<ItemParts>;
}

/** What a package is written from. */
export interface ExportDataset {
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  /** The provenance object as canonical JSON text; written as it is. */
  readonly schema: string;
  /** Lower-case hex. */
  readonly versionHash: string;
  /** In order. */
  readonly sections: readonly ExportSection[];
}

/** One item result, as `results.jsonl` has it. What is absent is written as null. */
export interface ExportResult {
  section: string;
  order_index: number;
  item_id?: JsonObject[string];
  repetition?: JsonObject[string];
  status?: JsonObject[string];
  output?: JsonObject[string];
  score?: JsonObject[string];
  passed?: JsonObject[string];
  explanation?: JsonObject[string];
  error?: JsonObject[string];
  latency_ms?: JsonObject[string];
  usage?: JsonObject[string];
}

/** A run that goes along with its dataset. */
export interface ExportRun {
  readonly id: string;
  readonly status: string;
  /** ISO 8601, or null. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Number of items by status. */
  readonly counts: JsonObject;
  readonly scores: JsonObject;
  /** As configured; it is sanitised on the way out. */
  readonly config: JsonObject;
  /** In item order, in batches of any size. Asked for twice: the manifest states the file's size and SHA-256. */
  results(signal?: AbortSignal): AsyncIterable<readonly ExportResult[]>;
}

export interface WriteOptions {
  run?: ExportRun | null;
  /** Secrets known to the process: none of them is written, wherever it stands in a run's configuration or results. */
  secrets?: readonly string[];
  signal?: AbortSignal;
}
