import { compileMapping, type Item, JsonlError, type MappableFeature, type Mapping } from '@svc/jsonl-v23';
import { canonicalByteLength, checkItemSize, mappedColumns } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { collectSections } from './collect-sections.ts';
import { createYielder } from './create-yielder.ts';
import type { Hub, SplitReader } from './hub-port.ts';
import { mapOrdered } from './map-ordered.ts';
import type {
  DatasetSummary,
  DatasetWriter,
  ImportOutcome,
  RowEncoder,
  RowPlan,
  SectionTarget,
} from './ports.ts';

export interface ImportHubOptions {
  /** uuid of the dataset to be */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** as it was sent, without the token */
  readonly config: {
    readonly path: string;
    readonly split: string | undefined;
    readonly subset: string | undefined;
    readonly revision: string | undefined;
  };
  readonly token: string | undefined;
  readonly mapping: Mapping;
  /** the mapping as it was sent, for the record */
  readonly mappingAsSent: JsonObject;
  /** longest canonical text of an item */
  readonly maxItemBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (
    done: { readonly items: number; readonly bytes: number },
    total: number | null,
  ) => void;
}

export interface ImportHubPorts {
  readonly hub: Hub;
  readonly store: DatasetWriter;
  readonly encoder: RowEncoder;
  /** a new uuid */
  readonly newId: () => string;
}

/** What a dry run found. */
export interface DryRun {
  readonly itemCount: number;
  /** of all rows that became items; null where one did not */
  readonly versionHash: string | null;
  /** the first 100 */
  readonly errors: readonly JsonlError[];
  readonly errorsTotal: number;
}

/** The name of the one section of a hub import. */
const SECTION_NAME = 'default';
const MAX_DRY_RUN_ERRORS = 100;

/**
 * Imports a slice of a hub dataset: rows → items (the mapping is checked before the first row) → store, in one pass
 * and one transaction, while the next rows download.
 *
 * @throws JsonlError `column_not_found`, `assets_not_object`, `invalid_row` with `place.row`; whatever hub and store
 * throw. Nothing is stored then.
 */
export async function importHub(options: ImportHubOptions, ports: ImportHubPorts): Promise<DatasetSummary> {
  const { signal } = options;
  const { encoder } = ports;
  const { dataset, selection, plan } = await open(options, ports.hub);
  const collector = collectSections();
  const target: SectionTarget = { id: ports.newId(), name: SECTION_NAME, orderIndex: 0 };

  async function* rows(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    let nextOrderIndex = 0;
    const yieldToEventLoop = createYielder();
    collector.begin(target);
    const batches = selection.cellBatches({ columns: mappedColumns(options.mapping), signal });
    const encodedBatches = mapOrdered(batches, encoder.parallelism, async (batch) => {
      const first = nextOrderIndex;
      nextOrderIndex += batch.rowCount;
      return await encoder.encodeCells(batch, plan, target, first);
    });
    for await (const encoded of encodedBatches) {
      signal.throwIfAborted();
      collector.add(encoded);
      bytes += encoded.rows.byteLength;
      options.onProgress?.({ items: collector.itemCount, bytes }, selection.numRows);
      yield encoded.rows;
      encoder.recycle(encoded);
      await yieldToEventLoop();
    }
  }

  function finish(): ImportOutcome {
    const { sections, versionHash } = collector.end();
    return {
      dataset: {
        id: options.id,
        name: options.name,
        description: options.description,
        notes: null,
        source: 'hub',
        schema: canonicalJson(provenance(options, selection, dataset.resolvedRevision)),
        versionHash,
        itemCount: collector.itemCount,
        assetCount: collector.assetCount,
      },
      sections,
    };
  }

  return await ports.store.saveDataset(rows(), finish, { signal });
}

/**
 * Does everything that an import does but store: converts every row, and goes on after rows that cannot be converted.
 */
export async function dryRunHub(
  options: ImportHubOptions,
  ports: Pick<ImportHubPorts, 'hub' | 'encoder' | 'newId'>,
): Promise<DryRun> {
  const { selection, plan } = await open(options, ports.hub);
  const mapRow = compileMapping(plan.mapping, plan.features);
  const collector = collectSections();
  const target: SectionTarget = { id: ports.newId(), name: SECTION_NAME, orderIndex: 0 };
  collector.begin(target);
  const yieldToEventLoop = createYielder();
  const errors: JsonlError[] = [];
  let errorsTotal = 0;
  for await (const batch of selection.rowBatches({
    columns: mappedColumns(options.mapping),
    signal: options.signal,
  })) {
    const items: Item[] = [];
    for (const row of batch) {
      try {
        const item = mapRow(row.row, row.rowIndex, row.split);
        const location = { row: row.rowIndex };
        checkItemSize(canonicalByteLength(item), 0, { maxItemBytes: options.maxItemBytes, location });
        items.push(item);
      } catch (error) {
        if (!(error instanceof JsonlError)) throw error;
        errorsTotal += 1;
        if (errors.length < MAX_DRY_RUN_ERRORS) errors.push(error);
      }
    }
    collector.add(ports.encoder.encodeItems(items, target, collector.nextOrderIndex));
    await yieldToEventLoop();
  }
  const { versionHash } = collector.end();
  return {
    itemCount: collector.itemCount,
    versionHash: errorsTotal === 0 ? versionHash : null,
    errors,
    errorsTotal,
  };
}

async function open(options: ImportHubOptions, hub: Hub) {
  const { config, mapping, token, signal } = options;
  const { path, revision, subset, split } = config;
  const dataset = await hub.openDataset({ path, revision, token, signal });
  const selection = await dataset.select({ subset, split, signal });
  const columns = new Set(mappedColumns(mapping));
  // Columns that the mapping has no use for are many, sometimes.
  const features = selection.features.filter(({ name }) => columns.has(name));
  const plan: RowPlan = { mapping, features, maxItemBytes: options.maxItemBytes };
  checkMapping(plan, selection);
  return { dataset, selection, plan };
}

/** Reports what is wrong with the mapping before the first row is read. */
function checkMapping({ mapping, features }: RowPlan, { unreadRow }: SplitReader): void {
  try {
    compileMapping(mapping, features);
  } catch (error) {
    const isMissing = error instanceof JsonlError && error.code === 'column_not_found';
    // The column may be one of the row that cannot be read, and no import gets beyond that row.
    throw isMissing ? (unreadRow ?? error) : error;
  }
}

/** The dataset's `schema` (http-api section 2): `path` and `split` as they were sent, and what they came to. */
function provenance(options: ImportHubOptions, selection: SplitReader, resolvedRevision: string): JsonObject {
  const { path, split, revision } = options.config;
  return {
    source: 'hub',
    config: {
      path,
      split: split ?? null,
      subset: selection.subset,
      revision: revision ?? null,
      resolved_revision: resolvedRevision,
      resolved_split: selection.split,
    },
    features: featureMap(selection.features),
    info: selection.info,
    mapping: options.mappingAsSent,
  };
}

/** Column → dtype, own members even for a column that is called `__proto__`. */
export function featureMap(features: readonly MappableFeature[]): JsonObject {
  return Object.fromEntries(features.map(({ name, dtype }) => [name, dtype]));
}
