import type { Download } from '../package/download.ts';
import type { DatasetReference } from '../service/dataset-reference.ts';

/** What commands need of a database. */
export interface DatabasePort {
  /**
   * Migrates the database to this version; returns the names of the applied migrations.
   *
   * @param distributed also spreads the large tables over the nodes of Citus; `distributed` of the outcome names them
   */
  migrate(
    url: string,
    options: { readonly distributed: boolean },
  ): Promise<{ readonly applied: readonly string[]; readonly distributed: readonly string[] }>;
  /**
   * Opens the export of a dataset and one of its runs. `dataset` is an id, a handle or a unique name, `version` a
   * number or digits of a version hash.
   *
   * @throws StoreError `dataset_not_found`, `version_not_found`, `ambiguous_version`, `run_not_found`, `run_incomplete`, `unavailable`; CliError `dataset_ambiguous`
   */
  openExport(
    url: string,
    request: DatasetReference & {
      readonly runId: string | undefined;
      readonly allowIncomplete: boolean;
      readonly signal: AbortSignal;
    },
  ): Promise<Download>;
}
