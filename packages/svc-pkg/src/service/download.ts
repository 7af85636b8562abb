import { extname } from 'node:path';
import { jsonText } from '@svc/jsonl-v23/json';
import type { Cli, Download } from '../cli-context.ts';
import { choice, force, text, withDefault } from '../commands/define-operation.ts';
import { createOutputFile } from '../output/output-file.ts';
import { dataWriter, printResult, refuseTerminal } from '../output/print.ts';
import { receive } from '../output/progress.ts';
import { findVersion } from './references.ts';
import type { ServiceClient } from './service-client.ts';

const TABLE_FORMATS = ['jsonl', 'csv', 'parquet'] as const;

export const fileOutput = () => ({
  output: withDefault(text('-o, --output <path>', 'file to write to'), '-'),
  force: force(),
});

export const tableOutput = () => ({
  format: choice(
    '--format <format>',
    'format of the output; by default what its name ends with, else jsonl',
    TABLE_FORMATS,
  ),
  ...fileOutput(),
});

/** The requested format, by its name or by the name of the output. */
export function formatOf({ format, output }: { readonly format?: string; readonly output: string }): string {
  const ending = extname(output).slice(1).toLowerCase();
  return format ?? TABLE_FORMATS.find((known) => known === ending) ?? 'jsonl';
}

const LINE_FEED = 10;

/** Writes a table to a file, which appears when it is complete, or to standard output. */
export async function downloadTable(
  cli: Cli,
  service: ServiceClient,
  request: {
    readonly path: string;
    readonly query?: Readonly<Record<string, string | undefined>>;
    /** JSON text of the request; with it, the service does something. */
    readonly body?: string;
    readonly output: string;
    readonly force?: true | undefined;
  },
): Promise<void> {
  const { path, query = {}, body: json, output, force = false } = request;
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

export async function downloadExport(
  service: ServiceClient,
  dataset: string,
  { runId, allowIncomplete }: { readonly runId: string | undefined; readonly allowIncomplete: boolean },
): Promise<Download> {
  const { id: datasetId, version } = await findVersion(service, dataset);
  const { headers, body } = await service.send({
    method: 'GET',
    path: `/datasets/${encodeURIComponent(datasetId)}/export`,
    query: { run_id: runId, version, allow_incomplete: allowIncomplete ? 'true' : undefined },
    headers: { accept: 'application/zip, application/json;q=0.5' },
  });
  const byteLength = Number(headers['content-length'] ?? Number.NaN);
  const iterator = body[Symbol.asyncIterator]();
  return {
    datasetId,
    fileName: attachmentName([headers['content-disposition']].flat()[0]),
    byteLength: Number.isFinite(byteLength) ? byteLength : null,
    body: { [Symbol.asyncIterator]: () => iterator },
    async [Symbol.asyncDispose]() {
      await iterator.return?.();
    },
  };
}

/**
 * The file name that a `Content-Disposition` header proposes (RFC 6266), fit to be one: no folder, no control
 * character, nothing hidden, nothing that a program takes for an option. Null if it proposes none.
 */
export function attachmentName(header: string | undefined): string | null {
  if (header === undefined) return null;
  const name = extendedName(header) ?? quotedName(header);
  return name === null ? null : safeFileName(name);
}

/** `filename*` (RFC 8187), in UTF-8; it goes before `filename`. Null if it is absent or invalid. */
function extendedName(header: string): string | null {
  const [, encoded] = /(?:^|;)\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]*)/i.exec(header) ?? [];
  try {
    return encoded === undefined ? null : decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** `filename`, as a quoted string or a token. */
function quotedName(header: string): string | null {
  const [, quoted, token] = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? token ?? null;
}

function safeFileName(name: string): string | null {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const safe = last
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}:*?"<>|]/gu, '_')
    .replace(/^[-.\s]+/, '')
    .trim();
  // Most file systems allow 255 bytes.
  return safe === '' || Buffer.byteLength(safe) > 255 ? null : safe;
}
