import { sha256Hex } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { PACKAGE_FORMAT_VERSION } from '../package/manifest.ts';
import type { ExportDataset, ExportRun } from './export-dataset.ts';

/**
 * The entity tag (RFC 9110 section 8.8.3, with quotes) of the package of a stored dataset and run. It changes when the
 * bytes of the package change.
 */
export function packageEtag(
  dataset: Pick<ExportDataset, 'name' | 'description' | 'notes' | 'schema' | 'versionHash'>,
  run: Omit<ExportRun, 'results'> | null = null,
): string {
  const { name, description, notes, schema, versionHash } = dataset;
  const stated = run && {
    id: run.id,
    name: run.name,
    status: run.status,
    error: run.error,
    dataset_version_hash: run.datasetVersionHash,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    counts: run.counts,
    scores: run.scores,
    config: run.config,
  };
  const text = canonicalJson([PACKAGE_FORMAT_VERSION, versionHash, name, description, notes, schema, stated]);
  return `"${sha256Hex(new TextEncoder().encode(text)).slice(0, 32)}"`;
}
