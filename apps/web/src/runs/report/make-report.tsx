import type { ApiClient } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { reportFile, reportTime } from '../../ui/report/report-file.ts';
import { prettyJson } from '../../ui/text/pretty-json.ts';
import type { Run } from '../use-run.ts';
import { fitRows } from './fit-rows.ts';
import { ReportPage } from './report-page.tsx';
import { readReportRows } from './report-rows.ts';

/** For the results; the rest of the report stays far below what remains of 5 MB. */
const MAX_ROW_BYTES = 4_600_000;

/**
 * Makes the report of a run: one HTML file below 5 MB, which needs nothing else.
 *
 * @param dataset its name, with its version
 * @param onProgress receives how many results were read
 */
export async function makeReport(
  api: ApiClient,
  run: Run,
  dataset: string,
  onProgress: (read: number) => void,
): Promise<Blob> {
  const rows = fitRows(await readReportRows(api, run, onProgress), MAX_ROW_BYTES);
  return reportFile(
    <ReportPage
      run={run}
      dataset={dataset}
      config={prettyJson(run.config as unknown as JsonValue)}
      rows={rows}
      madeAt={reportTime()}
    />,
  );
}
