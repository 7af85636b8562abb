import { RequestError } from '@svc/runtime';
import type { Request } from 'express';

/** Bytes of a representation. */
export interface ByteRange {
  readonly start: number;
  /** Not included. */
  readonly end: number;
}

/** One range: `bytes=5-9`, `bytes=5-` or `bytes=-5`. The parser of Express refuses an end that is longer than the whole. */
const ONE_RANGE = /^bytes=[ \t]{0,8}(\d{0,99})-(\d{0,99})[ \t]{0,8}$/i;

/**
 * The one range that a GET request asks for (RFC 9110 section 14); null for the whole representation: without `Range`,
 * with several ranges or an invalid one, and where `If-Range` names another version.
 *
 * @throws RequestError `range_not_satisfiable` for a range without any byte
 */
export function requestedRange(
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
