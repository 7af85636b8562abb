import type { HubClient, SplitReader } from '@svc/hub-client';
import { compileMapping, type JsonlError } from '@svc/jsonl-v23';
import { mappedColumns } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { DatasetDraft, DatasetSummary, MappingPlan } from '@svc/store';
import { missingColumns } from './missing-columns.ts';
import { hubProvenance } from './provenance.ts';
import type { ImportRequest } from './requests.ts';

export interface ImportOptions {
  /** Longest canonical text of an item. */
  readonly maxItemBytes: number;
  readonly signal: AbortSignal;
}

/** What a dry run found. */
export interface DryRun {
  readonly itemCount: number;
  /** Of all rows that became items; null where one did not. */
  readonly versionHash: string | null;
  /** The first 100. */
  readonly errors: readonly JsonlError[];
  readonly errorsTotal: number;
}

/** The name of the one section of a hub import. */
const SECTION_NAME = 'default';

/**
 * Imports a slice of a hub dataset into a draft: rows → items → rows of the store, in one pass, while the next rows
 * download. The mapping is checked before the first row. The caller commits the draft.
 *
 * @throws JsonlError, or ImportErrors for several columns, `column_not_found`; JsonlError `assets_not_object`, `invalid_row` with `location.row`; what hub and draft throw
 */
export async function importHub(
  hub: Pick<HubClient, 'openDataset'>,
  draft: DatasetDraft,
  request: ImportRequest,
  options: ImportOptions,
): Promise<DatasetSummary> {
  const slice = await writeSlice(hub, draft, request, options);
  return await draft.insert({
    name: request.name,
    description: request.description,
    notes: null,
    source: 'hub',
    schema: canonicalJson(hubProvenance(request, slice.reader, slice.resolvedRevision)),
  });
}

/**
 * Does everything that an import does, but stores nothing: converts every row, and continues after rows that it cannot
 * convert.
 *
 * @param draft of a dry run
 */
export async function dryRunHub(
  hub: Pick<HubClient, 'openDataset'>,
  draft: DatasetDraft,
  request: ImportRequest,
  options: ImportOptions,
): Promise<DryRun> {
  await writeSlice(hub, draft, request, options);
  const { failures } = draft;
  return {
    itemCount: draft.progress.items,
    versionHash: failures.total === 0 ? draft.hashes.versionHash : null,
    errors: failures.first,
    errorsTotal: failures.total,
  };
}

interface Slice {
  readonly reader: SplitReader;
  readonly resolvedRevision: string;
}

/** Opens the slice that a request asks for, and writes its rows. */
async function writeSlice(
  hub: Pick<HubClient, 'openDataset'>,
  draft: DatasetDraft,
  { config, mapping, token }: ImportRequest,
  { maxItemBytes, signal }: ImportOptions,
): Promise<Slice> {
  const { path, revision, subset, split } = config;
  const dataset = await hub.openDataset({ path, revision, token, signal });
  draft.countBytesOf(dataset);
  const reader = await dataset.select({ subset, split, signal });
  const columns = mappedColumns(mapping);
  const mapped = new Set(columns);
  // A dataset may have many columns that the mapping does not use.
  const features = reader.features.filter(({ name }) => mapped.has(name));
  const plan: MappingPlan = { mapping, features, maxItemBytes };
  checkMapping(plan, reader);
  await draft.section(SECTION_NAME, reader.numRows).writeCells(reader.cellBatches({ columns, signal }), plan);
  return { reader, resolvedRevision: dataset.resolvedRevision };
}

/** Reports errors of the mapping before the first row is read. */
function checkMapping({ mapping, features }: MappingPlan, reader: SplitReader): void {
  const missing = missingColumns(
    mapping,
    reader.features.map(({ name }) => name),
  );
  // The column may belong to the row that cannot be read, and no import gets beyond that row.
  if (missing !== null) throw reader.unreadRow ?? missing;
  compileMapping(mapping, features);
}
