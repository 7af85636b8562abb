import type { Download } from '../package/download.ts';

/** How far the items of older versions are. */
export interface FilesProgress {
  /** Items looked at, and all that there are to look at. */
  readonly items: number;
  readonly itemsTotal: number;
  /** Items whose files are assets now. */
  readonly moved: number;
  /** Whether they wait for the end of processes of an older version. */
  readonly isWaiting: boolean;
}

/** What commands need of a database. */
export interface DatabasePort {
  /** Migrates the database to this version; returns the names of the applied migrations. */
  migrate(url: string): Promise<{ readonly applied: readonly string[] }>;
  /**
   * Moves the files that items of an older version embed to assets, unless a process of such a version is connected, which
   * could not read them. Yields after each batch.
   */
  moveFiles(url: string, signal: AbortSignal): AsyncIterable<FilesProgress>;
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
