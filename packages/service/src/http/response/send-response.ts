import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, createGzip, createZstdCompress, gzip, zstdCompress } from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';
import { awaitsBody, RateMeter } from '../request/read-body.ts';
import { requestState } from '../request/track-request.ts';
import { type RouteResponse, toJsonText } from './response.ts';

/** Headers of a response that a client already has, and that 304 therefore omits. */
const BODY_HEADERS = ['Content-Type', 'Content-Encoding', 'Content-Disposition'];

/**
 * Sends a response, compressed if the client accepts that, or 304 if the client has the entity that its `ETag` names. A
 * stream is pulled as fast as the client reads; `signal` ends it, and so does a client that takes longer than
 * `slowReaderTimeoutMs` for 512 KiB.
 */
export async function sendResponse(
  request: Request,
  response: Response,
  result: RouteResponse,
  signal: () => AbortSignal,
  slowReaderTimeoutMs: number,
): Promise<void> {
  try {
    response.status(result.status);
    for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
    if (result.kind === 'stream') {
      const coding = chooseCoding(request, response);
      if (isUnchanged(request.get('if-none-match'), response.getHeader('ETag'))) {
        for (const name of BODY_HEADERS) response.removeHeader(name);
        endResponse(request, response.status(304));
        return;
      }
      if (request.method !== 'HEAD') {
        const body = coding === null ? result.body : compressStream(result.body, coding);
        await writeStream(response, body, slowReaderTimeoutMs, signal());
      }
      endResponse(request, response);
      limitClosing(response, slowReaderTimeoutMs);
    } else if (result.kind === 'empty') {
      endResponse(request, response);
    } else {
      if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
      const text = result.kind === 'json' ? `${toJsonText(result.body)}\n` : result.body;
      await endWithText(request, response, text);
    }
  } finally {
    if (result.kind === 'stream') await result.close();
  }
}

/**
 * Ends a response with a text, compressed if the client accepts that. A HEAD request gets the length, unless the text
 * is compressed: only compressing it would tell.
 */
export async function endWithText(request: Request, response: Response, text: string): Promise<void> {
  // Node would encode a string together with the headers, whose bytes are Latin-1.
  const bytes = Buffer.from(text);
  const coding = chooseCoding(request, response, bytes.byteLength);
  if (request.method === 'HEAD') {
    if (coding === null) response.setHeader('Content-Length', bytes.byteLength);
    endResponse(request, response);
    return;
  }
  const sent = coding === null ? bytes : await compressBytes(bytes, coding);
  response.setHeader('Content-Length', sent.byteLength);
  endResponse(request, response, sent);
}

/** How long a client may continue to send a body that is discarded, and how long it may pause. */
const LEFTOVER_BODY_MS = 5000;
const LEFTOVER_PAUSE_MS = 1000;

/**
 * Ends a response, with its last bytes.
 *
 * While the client is still sending its body, closing the connection would make its system discard the response too
 * (RFC 9112 section 9.6). The response is then sent whole, the rest of the body is discarded for a while, and only then
 * the connection is closed.
 */
export function endResponse(request: IncomingMessage, response: ServerResponse, body?: Uint8Array): void {
  if (!awaitsBody(request)) {
    response.end(body);
    return;
  }
  if (!response.headersSent) response.setHeader('Connection', 'close');
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  requestState(request).observed.setResponded();
  request.once('end', () => response.end());
  discardBody(request, () => response.end(() => request.socket.destroy()));
}

/**
 * Discards what is left of a body. Calls `onTimeout` when it takes too long, or when the client pauses.
 */
export function discardBody(
  request: IncomingMessage,
  onTimeout: () => void = () => request.socket.destroy(),
): void {
  if (!awaitsBody(request)) return;
  let seen = request.socket.bytesRead;
  let leftMs = LEFTOVER_BODY_MS;
  const timer = setInterval(() => {
    leftMs -= LEFTOVER_PAUSE_MS;
    if (request.socket.bytesRead === seen || leftMs <= 0) {
      clearInterval(timer);
      onTimeout();
    }
    seen = request.socket.bytesRead;
  }, LEFTOVER_PAUSE_MS);
  timer.unref();
  request.once('close', () => clearInterval(timer));
  request.resume();
}

/** Whether a list of entity tags names this one, by weak comparison (RFC 9110 section 13.1.2). */
export function isUnchanged(ifNoneMatch: string | undefined, etag: unknown): boolean {
  if (ifNoneMatch === undefined || typeof etag !== 'string') return false;
  const tags = ifNoneMatch.split(',').map((tag) => withoutWeak(tag.trim()));
  return tags.includes('*') || tags.includes(withoutWeak(etag));
}

const withoutWeak = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);

/** How the bytes of a response are coded (RFC 9110 section 8.4). */
type ContentCoding = 'zstd' | 'gzip';

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
function chooseCoding(
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
const compressBytes = (bytes: Uint8Array, coding: ContentCoding): Promise<Uint8Array> =>
  coding === 'zstd' ? promisify(zstdCompress)(bytes) : promisify(gzip)(bytes, { level: GZIP_LEVEL });

/**
 * Compresses a stream off the main thread, as fast as its reader takes it. Closes the source when the reader stops.
 * Holds one chunk and the window of the coding.
 */
async function* compressStream(
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

function createEncoder(coding: ContentCoding) {
  if (coding === 'zstd') return createZstdCompress({ chunkSize: OUTPUT_BYTES });
  return createGzip({ level: GZIP_LEVEL, chunkSize: OUTPUT_BYTES });
}

function done(start: (callback: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

/** Bytes that a client must take in the time that it has for them. */
const TAKEN_BYTES = 512 * 1024;

/**
 * Writes a stream to a response. Destroys the response when its reader takes longer than `timeoutMs` for 512 KiB: a
 * stream holds a connection to the database, and a reader that stalls would keep it from all others.
 */
export async function writeStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const meter = new RateMeter(TAKEN_BYTES, timeoutMs);
  let unreadBytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    for (let at = 0; at < chunk.byteLength; at += TAKEN_BYTES) {
      const piece = chunk.subarray(at, at + TAKEN_BYTES);
      unreadBytes += piece.byteLength;
      if (response.write(piece)) continue;
      const startedAt = performance.now();
      using _timer = destroyAfter(response, Math.max(1, meter.leftMs));
      await once(response, 'drain', { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
      meter.add(unreadBytes, performance.now() - startedAt);
      unreadBytes = 0;
    }
  }
}

/** Destroys a response that is not closed `timeoutMs` after its last byte was written. */
function limitClosing(response: ServerResponse, timeoutMs: number): void {
  if (response.closed) return;
  const timer = destroyAfter(response, timeoutMs);
  response.once('close', () => timer[Symbol.dispose]());
}

function destroyAfter(response: ServerResponse, timeoutMs: number): Disposable {
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
