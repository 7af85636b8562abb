import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { ExportResult } from '@svc/pkg-format';
import type { LostCounter, Place } from '../lost.ts';

/** An item to write. */
export interface SourceItem {
  readonly section: string;
  /** Order in its section, from 0. */
  readonly orderIndex: number;
  /** With the files that it embeds. */
  readonly item: JsonObject;
  /** 64 hex digits. */
  readonly itemHash: string;
}

/** A run to write. */
export interface SourceRun {
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  /** ISO 8601. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly error: string | null;
  readonly config: JsonObject;
  /** Reads the results in item order, in batches of any size. May be called again. */
  results(): AsyncIterable<readonly ExportResult[]>;
}

/** A dataset to write for a tool, perhaps with a run. */
export interface ToolSource {
  readonly name: string;
  /** 64 hex digits. */
  readonly versionHash: string;
  readonly itemCount: number;
  /** Reads the items in order, in batches of any size. May be called again after it was read to its end. */
  items(): AsyncIterable<readonly SourceItem[]>;
  readonly run: SourceRun | null;
}

export interface WriteContext {
  readonly lost: LostCounter;
  readonly model: string;
}

export interface WrittenFile {
  readonly name: string;
  readonly text: AsyncIterable<string> | Iterable<string>;
}

export async function* itemLines(
  { items }: ToolSource,
  { lost }: WriteContext,
  rowOf: (item: SourceItem, place: Place) => JsonObject,
): AsyncGenerator<string> {
  for await (const batch of items()) {
    const rows = batch.map((item) => rowOf(item, lost.at({ file: item.section })));
    yield rows.map((row) => `${canonicalJson(row)}\n`).join('');
  }
}

/** An item and its results; no results if the run has none of the item. */
export interface SourceSample extends SourceItem {
  readonly results: readonly ExportResult[];
}

/** Joins items and results, which are in the same order. Holds a batch of each. */
export async function* samplesOf({ items, run }: ToolSource): AsyncGenerator<SourceSample> {
  const results = run === null ? null : flat(run.results());
  let next = results === null ? null : await results.next();
  try {
    for await (const batch of items()) {
      for (const item of batch) {
        const found: ExportResult[] = [];
        while (next !== null && next.done !== true && isOf(next.value, item)) {
          found.push(next.value);
          next = (await results?.next()) ?? null;
        }
        yield { ...item, results: found };
      }
    }
  } finally {
    await results?.return(undefined);
  }
}

const isOf = (result: ExportResult, { section, orderIndex }: SourceItem): boolean =>
  result.section === section && result.order_index === orderIndex;

async function* flat<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T, undefined> {
  for await (const batch of batches) yield* batch;
  return undefined;
}
