import {
  constants,
  createGzip,
  createZstdCompress,
  type Gzip,
  gzip,
  type ZstdCompress,
  zstdCompress,
} from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';

/** How the bytes of a response are coded (RFC 9110 section 8.4). */
export type ContentCoding = 'zstd' | 'gzip';

/** The known codings, cheapest first: the first is taken if a client accepts several alike. */
const CODINGS: readonly ContentCoding[] = ['zstd', 'gzip'];

/** A shorter text fits into one packet either way. */
const MIN_BYTES = 1024;

/** After this many bytes of a stream, their compressed form is sent: a client sees rows as they come. */
const FLUSH_BYTES = 64 * 1024;

/** Half the time of the default level for a tenth more bytes. */
const GZIP_LEVEL = 4;
const OUTPUT_BYTES = 64 * 1024;

/** JSON, JSON Lines, CSV and other texts. Events are not compressed: each must arrive immediately, and they are short. */
const COMPRESSIBLE = /^(?:application\/(?:[a-z.-]{1,50}\+)?jsonl?|text\/(?!event-stream)[a-z]+)(?:;|$)/;

/**
 * Chooses the coding of a response whose headers are set, and states it: `Vary`, `Content-Encoding`, and a weak `ETag`,
 * because the bytes of one entity differ from coding to coding (RFC 9110 section 8.8.1).
 *
 * A page of another site that this service does not know cannot read a response, but learns its length. Such a response
 * is not compressed, because the length of compressed bytes tells of their content (the BREACH attack).
 *
 * @param byteLength of the body, if known
 */
export function chooseCoding(
  request: Request,
  response: Response,
  byteLength: number = Number.POSITIVE_INFINITY,
): ContentCoding | null {
  if (!COMPRESSIBLE.test(String(response.getHeader('Content-Type')).toLowerCase())) return null;
  // Files of known length are sent as they are, whole or in ranges.
  if (response.hasHeader('Content-Length')) return null;
  response.vary('Accept-Encoding');
  if (request.headers['accept-encoding'] === undefined) return null;
  const isForeignPage = request.headers['sec-fetch-site'] === 'cross-site';
  if (isForeignPage && !response.hasHeader('Access-Control-Allow-Origin')) return null;

  // Its types lag behind the library, which has had this option since version 1.
  const negotiator: { encodings(available: string[], options: { preferred: string[] }): string[] } =
    new Negotiator(request);
  const accepted = negotiator.encodings([...CODINGS, 'identity'], { preferred: [...CODINGS] });
  if (byteLength < MIN_BYTES && accepted.includes('identity')) return null;
  const coding = CODINGS.find((known) => known === accepted[0]);
  if (coding === undefined) return null;
  response.setHeader('Content-Encoding', coding);
  const etag = response.getHeader('ETag');
  if (typeof etag === 'string' && !etag.startsWith('W/')) response.setHeader('ETag', `W/${etag}`);
  return coding;
}

/** Compresses bytes in memory, off the main thread. */
export function compressBytes(bytes: Uint8Array, coding: ContentCoding): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, compressed: Uint8Array): void =>
      error === null ? resolve(compressed) : reject(error);
    if (coding === 'zstd') zstdCompress(bytes, settle);
    else gzip(bytes, { level: GZIP_LEVEL }, settle);
  });
}

/**
 * Compresses a stream off the main thread, as fast as its reader takes it. Closes the source when the reader stops.
 * Holds one chunk and the window of the coding.
 */
export async function* compressStream(
  chunks: AsyncIterable<Uint8Array>,
  coding: ContentCoding,
): AsyncGenerator<Uint8Array> {
  const encoder = createEncoder(coding);
  const ready: Uint8Array[] = [];
  encoder.on('data', (bytes: Uint8Array) => ready.push(bytes));
  const ended = new Promise<void>((resolve, reject) => {
    encoder.once('end', resolve).once('error', reject);
  });
  // a failed write rejects as well
  ended.catch(() => undefined);
  let waitingBytes = 0;
  try {
    for await (const chunk of chunks) {
      await done((callback) => encoder.write(chunk, callback));
      waitingBytes += chunk.byteLength;
      if (waitingBytes >= FLUSH_BYTES) {
        waitingBytes = 0;
        await done((callback) => encoder.flush(FLUSH[coding], () => callback()));
      }
      yield* ready.splice(0);
    }
    encoder.end();
    await ended;
    yield* ready.splice(0);
  } finally {
    encoder.destroy();
  }
}

const FLUSH = { zstd: constants.ZSTD_e_flush, gzip: constants.Z_SYNC_FLUSH };

function createEncoder(coding: ContentCoding): Gzip | ZstdCompress {
  if (coding === 'zstd') return createZstdCompress({ chunkSize: OUTPUT_BYTES });
  return createGzip({ level: GZIP_LEVEL, chunkSize: OUTPUT_BYTES });
}

function done(start: (callback: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}
