import { jsonText } from '@svc/jsonl-v23/internal';
import type { Cli } from '../cli-context.ts';
import { createOutputFile } from '../output/output-file.ts';
import { dataWriter, printResult, refuseTerminal } from '../output/print.ts';
import { receive } from '../output/progress.ts';
import type { ServiceClient } from './service-client.ts';

const LINE_FEED = 10;

export interface TableRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** JSON text of the request; with it, the service does something. */
  readonly body?: string;
  /** `-` for standard output. */
  readonly output: string;
  readonly force: boolean;
}

/**
 * Writes a table of the service to a file, which appears when it is complete, or to standard output. With `--json`, prints a
 * document about the file.
 *
 * @throws CliError `output_exists`, `io_error`, `usage` for Parquet on a terminal; as `ServiceClient.send`
 */
export async function downloadTable(cli: Cli, service: ServiceClient, request: TableRequest): Promise<void> {
  const { path, query = {}, body: json, output, force } = request;
  if (output === '-' && path.endsWith('.parquet')) refuseTerminal(cli);
  const { body } = await service.send(
    json === undefined
      ? { method: 'GET', path, query }
      : { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: json },
  );
  if (output === '-') {
    await receive(cli, body, null, dataWriter(cli));
    return;
  }
  await using file = await createOutputFile(output, { force });
  let lines = 0;
  await receive(cli, body, null, async (chunk) => {
    await file.write(chunk);
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1;
  });
  await file.commit();
  if (!cli.json) return;
  // A row of a CSV file may have several lines.
  const isJsonLines = !/\.(?:csv|parquet)$/.test(path);
  const document = { output, lines: isJsonLines ? lines : null, bytes: file.bytesWritten };
  await printResult(cli, { text: () => '', json: () => jsonText(document) });
}
