import type { Download } from '../cli-context.ts';
import { findVersion } from './references.ts';
import type { ServiceClient } from './service-client.ts';

/**
 * Opens the export of a version of a dataset of a service and of one of its runs.
 *
 * @param dataset id, handle or unique name of the dataset, perhaps with `@version`
 * @throws as `findVersion`
 */
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
 *
 * @example attachmentName(`attachment; filename="a.zip"; filename*=UTF-8''%C3%A4.zip`) // 'ä.zip'
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

/** The last part of a path, if a file can bear it. */
function safeFileName(name: string): string | null {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const safe = last
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}:*?"<>|]/gu, '_')
    .replace(/^[-.\s]+/, '')
    .trim();
  // Most file systems allow 255 bytes.
  return safe === '' || Buffer.byteLength(safe) > 255 ? null : safe;
}
