import { type RouteResponse, stream } from '@svc/service';
import { create } from 'content-disposition';

/** A file that is made while it is sent. */
export interface Download {
  readonly mediaType: string;
  readonly fileName: string;
  /** Null if two of them may differ. */
  readonly etag: string | null;
  bytes(): AsyncIterable<Uint8Array>;
}

/** The response with such a file, which closes its source at the end. */
export function downloadResponse(
  { mediaType, fileName, etag, bytes }: Download,
  source: AsyncDisposable,
): RouteResponse {
  return stream(
    bytes(),
    {
      'Content-Type': mediaType,
      'Content-Disposition': contentDisposition(fileName),
      'Cache-Control': 'no-cache',
      ...(etag === null ? {} : { ETag: etag }),
    },
    () => source[Symbol.asyncDispose](),
  );
}

/** A header that names the file of a download (RFC 6266): ASCII for old clients, the exact name in UTF-8. */
export function contentDisposition(fileName: string): string {
  const ascii = fileName
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/["\\%]/g, '_');
  return create(fileName, { fallback: ascii });
}
