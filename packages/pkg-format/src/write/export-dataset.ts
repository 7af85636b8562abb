import type { ItemParts } from '@svc/jsonl-v23';
import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { sha256Hex } from '@svc/jsonl-v23/bytes';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { PackagedRunMember, RESULT_FIELDS, ResultName } from '@svc/jsonl-v23/runs';
import { PACKAGE_FORMAT_VERSION, type PackageGenerator } from '../package/layout.ts';

/** An item to write, in its stored parts. */
export interface ExportItem extends ItemParts {
  /** Files that the item embeds and whose content the parts lack, for a store that keeps it apart. */
  readonly linkedFiles?: readonly LinkedFile[];
}

/** A section to write, from any store. */
export interface ExportSection {
  readonly name: string;
  readonly itemCount: number;
  /** 32 bytes. */
  readonly sectionHash: Uint8Array;
  /**
   * Size and SHA-256 of the section's canonical lines, if the store noted them and no item embeds a file: then writing
   * starts without reading the section first. Null if unknown.
   */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
  /** Reads the stored parts of its items in order, in batches of any size. May be called twice. */
  items(signal?: AbortSignal): AsyncIterable<readonly ExportItem[]>;
  /** Reads the bytes of these lines, for a store that need not decode them; without it, `items` are encoded. */
  bytes?(signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Reads one item again for the files that it embeds; called only if `exportFile` is null. */
  itemAt(orderIndex: number, signal?: AbortSignal): Promise<ExportItem>;
}

/** The content of a linked file. */
export interface LinkedContent {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly byteLength: number;
}

/** A dataset to write as a package. */
export interface ExportDataset {
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  /** The provenance object as canonical JSON text, which is written unchanged. */
  readonly schema: string;
  /** Lower-case hex. */
  readonly versionHash: string;
  /** In order. */
  readonly sections: readonly ExportSection[];
  /**
   * Reads the content of a linked file; needed only if there are some. Returns content in memory without a promise.
   *
   * @param following the files that are read next, for a store that reads some of them together
   */
  readonly content?: (
    file: LinkedContent,
    following: Iterable<LinkedContent>,
    signal?: AbortSignal,
  ) => Uint8Array | AsyncIterable<Uint8Array>;
}

type ResultMember = (typeof RESULT_FIELDS)[Exclude<ResultName, 'sectionOrderIndex'>]['wire'];

/** One item result, as in `results.jsonl`. Absent members are written as null. */
export type ExportResult = {
  readonly [Member in ResultMember]?: JsonValue;
} & {
  /** What people say of the output; absent without any. */
  readonly labels?: JsonValue;
} & { readonly section: string; readonly order_index: number };

/** The run that a bar compares with. */
export interface ExportBaseline {
  /** Members of `baseline/run.json`. */
  readonly run: JsonObject;
  /** Records of its results in order, see `recordText` of `@svc/jsonl-v23/runs`. Called twice. */
  records(signal?: AbortSignal): AsyncIterable<readonly string[]>;
}

type ProofMember = 'run_hash' | 'scoring' | 'bar_hash';

/** A run to write with its dataset: what its manifest states, and its content. */
export type ExportRun = { readonly [Member in Exclude<PackagedRunMember, ProofMember>]: JsonValue } & {
  /** `run_hash` is computed anew if the run has ended, and its items have a known version. */
  readonly [Member in ProofMember]?: JsonValue;
} & {
  /** Canonical text of the bar; absent or null without one. */
  readonly bar?: string | null;
  /** By the names of scorers. */
  readonly scorers?: JsonObject;
  readonly verdict?: JsonValue;
  readonly baseline?: ExportBaseline | null;
  /** Number of items by status. */
  readonly counts: JsonObject;
  readonly scores: JsonObject;
  /** As configured; the writer removes secrets. */
  readonly config: JsonObject;
  /** Reads the results in item order, in batches of any size. Called twice, since the manifest states size and SHA-256. */
  results(signal?: AbortSignal): AsyncIterable<readonly ExportResult[]>;
};

/** Options of `writePackage` and `writePackageStream`. */
export interface WriteOptions {
  /** A run of the dataset. One that is not `completed` is marked in the manifest, as `run.incomplete`. */
  readonly run?: ExportRun | null;
  /** The program that writes the package; by default this library. */
  readonly generator?: PackageGenerator;
  /** Secrets that the process knows; the writer redacts them in a run's configuration and results. */
  readonly secrets?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * The entity tag (RFC 9110 section 8.8.3, with quotes) of the package of a stored dataset and run. It changes when the
 * bytes of the package change.
 */
export function packageEtag(
  dataset: Pick<ExportDataset, 'name' | 'description' | 'notes' | 'schema' | 'versionHash'>,
  generator: PackageGenerator,
  run: Omit<ExportRun, 'results'> | null,
  results: readonly JsonValue[] = [],
): string {
  const { name, description, notes, schema, versionHash } = dataset;
  const text = canonicalJson([
    PACKAGE_FORMAT_VERSION,
    [generator.name, generator.version],
    versionHash,
    name,
    description,
    notes,
    schema,
    run,
    ...results,
  ]);
  return `"${sha256Hex(new TextEncoder().encode(text)).slice(0, 32)}"`;
}
