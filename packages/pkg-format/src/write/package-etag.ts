import { sha256Hex } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import type { PackageGenerator } from '../package/generator.ts';
import { PACKAGE_FORMAT_VERSION } from '../package/layout.ts';
import type { ExportDataset, ExportRun } from './export-dataset.ts';

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
