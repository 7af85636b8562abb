import type { Cli } from '../cli-context.ts';
import { createOutputFile } from '../output/output-file.ts';
import { showProgress } from '../output/progress.ts';
import { dataWriter, refuseTerminal } from '../output/write-data.ts';
import type { ServiceClient } from './client/service-client.ts';

/** Formats in which the service sends items and results. */
export const TABLE_FORMATS = ['jsonl', 'csv', 'parquet'] as const;

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
 * Writes a table of the service to a file, which appears when it is complete, or to standard output.
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
    await receive(cli, body, dataWriter(cli));
    return;
  }
  await using file = await createOutputFile(output, { force });
  await receive(cli, body, (chunk) => file.write(chunk));
  await file.commit();
}

async function receive(
  cli: Cli,
  body: AsyncIterable<Uint8Array>,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  using progress = showProgress(cli, 'receiving');
  let bytes = 0;
  for await (const chunk of body) {
    cli.signal.throwIfAborted();
    await write(chunk);
    bytes += chunk.byteLength;
    progress.update(bytes, null);
  }
  cli.signal.throwIfAborted();
}
