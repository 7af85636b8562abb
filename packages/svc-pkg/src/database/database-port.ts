import type { Download } from '../package/download.ts';

/** What commands need of a database. */
export interface DatabasePort {
  /** Migrates the database to this version; returns the names of the applied migrations. */
  migrate(url: string): Promise<{ readonly applied: readonly string[] }>;
  /**
   * Opens the export of a dataset and one of its runs. `dataset` is an id or a unique name.
   *
   * @throws StoreError `dataset_not_found`, `run_not_found`, `unavailable`; CliError `dataset_ambiguous`
   */
  openExport(
    url: string,
    request: { readonly dataset: string; readonly runId: string | undefined; readonly signal: AbortSignal },
  ): Promise<Download>;
}
