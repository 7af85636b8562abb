import {
  empty,
  isUnchanged,
  RequestError,
  type Route,
  type RouteRequest,
  type RouteResponse,
  stream,
} from '@svc/service';
import type { FileExport } from '@svc/service/flows';
import { create } from 'content-disposition';
import type { Request } from 'express';

export interface ByteRange {
  readonly start: number;
  /** Not included. */
  readonly end: number;
}

/** One range: `bytes=5-9`, `bytes=5-` or `bytes=-5`. The parser of Express refuses an end that is longer than the whole. */
const ONE_RANGE = /^bytes=[ \t]{0,8}(\d{0,99})-(\d{0,99})[ \t]{0,8}$/i;

/**
 * The one range that a GET request asks for (RFC 9110 section 14); null for the whole: without `Range`, with several ranges
 * or an invalid one, and where `If-Range` names another version.
 */
function requestedRange(
  request: Pick<Request, 'get' | 'method'>,
  { byteLength, etag }: { readonly byteLength: number; readonly etag: string },
): ByteRange | null {
  const ifRange = request.get('if-range');
  if (request.method !== 'GET' || (ifRange !== undefined && ifRange !== etag)) return null;
  const [, first = '', last = ''] = ONE_RANGE.exec(request.get('range') ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const start = first === '' ? Math.max(0, byteLength - Number(last)) : Number(first);
  const end = first === '' || last === '' ? byteLength : Math.min(Number(last) + 1, byteLength);
  if (start < end) return { start, end };
  throw new RequestError('range_not_satisfiable', `None of the ${byteLength} bytes are in the range.`, {
    headers: { 'Content-Range': `bytes */${byteLength}` },
  });
}

export function rangedRoute(
  description: string,
): Pick<Route, 'headers' | 'produces' | 'streams' | 'responses'> {
  const text = { type: 'string' } as const;
  const schema = { type: 'string', format: 'binary' } as const;
  return {
    headers: { Range: text, 'If-None-Match': text, 'If-Range': text },
    produces: '*/*',
    streams: 'assets',
    responses: {
      200: { description, schema },
      206: { description: 'the bytes of `Range`', schema },
      304: { description: 'not changed since `If-None-Match`' },
    },
  };
}

interface RangedFile {
  readonly byteLength: number;
  readonly etag: string;
  /** Headers of every response, also of 304. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyHeaders: Readonly<Record<string, string>>;
  read(range: ByteRange): AsyncIterable<Uint8Array>;
}

export function rangedResponse(
  { header, raw }: Pick<RouteRequest, 'header' | 'raw'>,
  { byteLength, etag, headers, bodyHeaders, read }: RangedFile,
): RouteResponse {
  const always = { ...headers, ETag: etag };
  if (isUnchanged(header('if-none-match'), etag)) return empty(304, always);
  const range = requestedRange(raw, { byteLength, etag });
  const { start, end } = range ?? { start: 0, end: byteLength };
  const response = stream(read({ start, end }), {
    ...always,
    ...bodyHeaders,
    'Accept-Ranges': 'bytes',
    'Content-Length': String(end - start),
  });
  if (range === null) return response;
  const contentRange = { 'Content-Range': `bytes ${start}-${end - 1}/${byteLength}` };
  return { ...response, status: 206, headers: { ...response.headers, ...contentRange } };
}

export function downloadResponse(
  { mediaType, fileName, etag, bytes }: FileExport,
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

/** Media types that a browser shows without running anything, under {@link SAFE}, and how they are sent. */
const SHOWN: Readonly<Record<string, string>> = {
  'application/pdf': 'application/pdf',
  'audio/mp3': 'audio/mpeg',
  'audio/mp4': 'audio/mp4',
  'audio/mpeg': 'audio/mpeg',
  'audio/ogg': 'audio/ogg',
  'audio/vnd.wave': 'audio/wav',
  'audio/wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/webm': 'audio/webm',
  'audio/x-wav': 'audio/wav',
  'image/avif': 'image/avif',
  'image/gif': 'image/gif',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/svg+xml': 'image/svg+xml',
  'image/webp': 'image/webp',
  'text/plain': 'text/plain; charset=utf-8',
  'video/mp4': 'video/mp4',
  'video/ogg': 'video/ogg',
  'video/webm': 'video/webm',
};

/** A page that shows the bytes runs no script of theirs, loads nothing for them, and gives them no origin. */
export const SAFE: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
};

/** The type of bytes that users have uploaded, to send with {@link SAFE}: any but a safe media type is a download. */
export function mediaHeaders(mediaType: string | null, fileName: string): Readonly<Record<string, string>> {
  const essence = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const shown = Object.hasOwn(SHOWN, essence) ? SHOWN[essence] : undefined;
  if (shown !== undefined) return { 'Content-Type': shown };
  return { 'Content-Type': 'application/octet-stream', 'Content-Disposition': contentDisposition(fileName) };
}
