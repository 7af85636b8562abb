/**
 * Where a distributed PostgreSQL (Citus) keeps each table.
 *
 * - `{ by }`: in shards, by the hash of this column; tables by the same kind of id are in the same shards
 * - `reference`: a copy on every node
 * - `local`: on the coordinator
 */
export type TableLocation = 'reference' | 'local' | { readonly by: string; readonly with: string };

/** The large tables are in shards; what they are joined with is everywhere. */
export const LOCATIONS: Readonly<Record<string, TableLocation>> = {
  items: { by: 'part_id', with: 'part' },
  hash_blocks: { by: 'part_id', with: 'part' },
  run_results: { by: 'run_id', with: 'run' },
  run_items: { by: 'run_id', with: 'run' },
  run_differences: { by: 'run_id', with: 'run' },
  run_claims: { by: 'run_id', with: 'run' },
  run_claim_batches: { by: 'run_id', with: 'run' },
  datasets: 'reference',
  versions: 'reference',
  sections: 'reference',
  parts: 'reference',
  hub_layouts: 'reference',
  hub_files: 'reference',
  runs: 'reference',
  labels: 'reference',
  run_comparisons: 'reference',
  assets: 'local',
  dataset_assets: 'local',
  jobs: 'local',
  job_chunks: 'local',
  released_assets: 'local',
  loose_objects: 'local',
  loose_parts: 'local',
  settings: 'local',
  idempotency_keys: 'local',
  _prisma_migrations: 'local',
};

/** The column by whose hash a table is in shards; null for the others. */
export function distributionOf(table: string): { readonly by: string; readonly with: string } | null {
  const location = LOCATIONS[table];
  return typeof location === 'object' ? location : null;
}
