import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import {
  type ChangedDataset,
  type ChangedDraft,
  type DatasetChange,
  type DatasetDraft,
  type DatasetStore,
  type DatasetSummary,
  type DraftChange,
  type DraftCommit,
  type DraftContent,
  type Edit,
  type IdempotencyClaim,
  type JoinedRun,
  type StoredResponse,
  StoreError,
} from '@svc/store';
import type { ImportSource } from './import-dataset.ts';

/** What an import makes: a dataset, or the next version of one. */
export type ImportTarget = NewDatasetTarget | VersionTarget;

interface NewDatasetTarget {
  readonly kind: 'dataset';
  readonly handle: string | null;
  /** What to do if a dataset with this handle exists, or, without a handle, one with the same name and hash. */
  readonly ifExists: 'reuse' | 'error' | null;
  readonly message: string | null;
  readonly author: string | null;
}

export interface VersionTarget {
  readonly kind: 'version';
  readonly change: Omit<DatasetChange, 'staged' | 'edits'>;
  /** The edits of mode `edit`, which no job has. */
  readonly edits?: readonly Edit[];
}

/** What an import made. */
export interface StoredImport {
  readonly dataset: DatasetSummary;
  /** Null for a new dataset, and for one that is used again. */
  readonly changed: ChangedDataset | null;
  /** Whether there is a new dataset or version. */
  readonly isNew: boolean;
  /** The run that was added to a dataset that has its items; null for none. */
  readonly runId: string | null;
}

/** What ends with an import. */
export interface ImportEnd {
  readonly job?: DraftCommit['job'];
  /** The idempotent request, and its response. */
  readonly response?:
    | { readonly claim: IdempotencyClaim; readonly of: (stored: StoredImport) => StoredResponse }
    | undefined;
}

/**
 * Stores a draft as its target wants it.
 *
 * @throws StoreError `handle_taken`, `dataset_exists`; what {@link DatasetDraft.commit} and {@link DatasetDraft.change} throw
 */
export async function storeImport(
  source: ImportSource,
  draft: DatasetDraft,
  content: DraftContent,
  target: ImportTarget,
  datasets: Pick<DatasetStore, 'get'>,
  { job, response }: ImportEnd,
): Promise<StoredImport> {
  if (target.kind === 'version') {
    const { changed, dataset } = await changeByDraft(source, draft, content, target, {
      job,
      response: response && {
        claim: response.claim,
        of: (done) => response.of({ ...done, isNew: done.changed.isNew, runId: null }),
      },
    });
    return { changed, dataset, isNew: changed.isNew, runId: null };
  }
  const { handle, ifExists, message, author } = target;
  const joinedOf = ({ dataset, runId }: JoinedRun): StoredImport => {
    return { dataset, changed: null, isNew: false, runId };
  };
  const joined =
    handle === null && ifExists === null
      ? await draft.joinRun(content, {
          job,
          response: response && { claim: response.claim, of: (run) => response.of(joinedOf(run)) },
        })
      : null;
  if (joined !== null) return joinedOf(joined);
  if (content.run?.joins === 'ids only') {
    throw new StoreError(
      'invalid_request',
      'No dataset has the items of these results: send the requests of the batch with them.',
    );
  }
  const endOf = (isNew: boolean): Pick<DraftCommit, 'job' | 'response'> => ({
    job,
    response: response && {
      claim: response.claim,
      of: (dataset) => response.of({ dataset, changed: null, isNew, runId: null }),
    },
  });
  const repeated = ifExists === null ? null : await draft.findRepeated({ ...content.dataset, handle });
  if (repeated === null) {
    const dataset = { ...content.dataset, handle, message, author };
    return {
      dataset: await draft.commit({ ...content, dataset, ...endOf(true) }),
      changed: null,
      isNew: true,
      runId: null,
    };
  }
  if (ifExists === 'error') throw datasetExists(repeated.id);
  if (repeated.versionHash !== draft.hashes.versionHash) {
    throw new StoreError('handle_taken', `Another dataset has the handle "${handle}", and another content.`);
  }
  const dataset = await datasets.get(repeated.id);
  await draft.reuse(dataset, endOf(false));
  return { dataset, changed: null, isNew: false, runId: null };
}

/** The error for a dataset that is there. */
export function datasetExists(id: string): StoreError {
  return new StoreError('dataset_exists', `There is such a dataset: ${id}.`);
}

/** Makes a draft the next version of a dataset. */
export async function changeByDraft(
  source: Pick<ImportSource, 'namesSections'>,
  draft: DatasetDraft,
  { run }: Pick<DraftContent, 'run'>,
  { change, edits }: VersionTarget,
  end: Pick<DraftChange, 'job' | 'response' | 'dryRun'>,
): Promise<ChangedDraft> {
  const { namesSections } = source;
  if (namesSections && change.section !== undefined) {
    throw new StoreError('invalid_request', 'section must be left out: the body names its sections.');
  }
  // A package is checked to its end, and its end is that of its run.
  if (run) for await (const _ of run.results);
  return await draft.change({ change: { ...change, edits }, namesSections, ...end });
}

/** Writes a target for a job to keep. */
export function encodeTarget(target: ImportTarget): JsonObject {
  if (target.kind === 'dataset') {
    const { kind, handle, ifExists, message, author } = target;
    return { kind, handle, if_exists: ifExists, message, author };
  }
  const { datasetId, mode, section, ifMatch, source, message, author } = target.change;
  return {
    ...{
      kind: target.kind,
      dataset_id: datasetId,
      mode,
      section: section ?? null,
      if_match: ifMatch ?? null,
    },
    ...{ source: source ?? null, message: message ?? null, author: author ?? null },
  };
}

/** Reads what {@link encodeTarget} wrote; jobs of the previous version have none, and make datasets. */
export function decodeTarget(value: JsonValue | undefined): ImportTarget {
  const target = value !== undefined && isJsonObject(value) ? value : {};
  const textOf = (key: string): string | null => {
    const member = getMember(target, key);
    return typeof member === 'string' ? member : null;
  };
  const facts = { message: textOf('message'), author: textOf('author') };
  if (textOf('kind') !== 'version') {
    const ifExists = textOf('if_exists') as NewDatasetTarget['ifExists'];
    return { kind: 'dataset', handle: textOf('handle'), ifExists, ...facts };
  }
  const { mode, source } = target as unknown as Pick<DatasetChange, 'mode' | 'source'>;
  return {
    kind: 'version',
    change: {
      ...{ ...facts, mode, datasetId: textOf('dataset_id') ?? '' },
      section: textOf('section') ?? undefined,
      ifMatch: textOf('if_match') ?? undefined,
      source: source ?? undefined,
    },
  };
}
