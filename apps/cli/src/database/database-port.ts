import type { Download } from '../package/download.ts';

/** What the commands that work on a database need of it. */
export interface DatabasePort {
  /** Brings the database to this version; the names of the migrations that were applied. */
  migrate(url: string): Promise<{ readonly applied: readonly string[] }>;
  /**
   * Opens the export of a dataset, named by its id or by a name that no other has, and of one of its runs.
   *
   * @throws StoreError `dataset_not_found`, `run_not_found`, `unavailable`; CliError `dataset_ambiguous`
   */
  openExport(
    url: string,
    wanted: { readonly dataset: string; readonly runId: string | undefined; readonly signal: AbortSignal },
  ): Promise<Download>;
}
