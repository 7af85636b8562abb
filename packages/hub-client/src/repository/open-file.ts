import { type ByteSource, joinSignals, shorten } from '@svc/tabular/internal';
import { createSha256 } from '#platform';
import { HubError } from '../errors.ts';
import { type HubResponse, type RequestContext, type Requester, RetryableError } from '../http/request.ts';
import { encodeFilePath } from './validate-path.ts';

/** A file of a repository at one commit, as the listing states it. */
export interface FileLocation {
  /** Current id of the repository. */
  dataset: string;
  commit: string;
  path: string;
  byteLength: number;
  /** SHA-256 of the content in lower-case hex, where the hub states one. */
  sha256: string | null;
}

/** Statuses by which a storage host says that a signed address is no longer valid. */
const EXPIRED: readonly number[] = [400, 401, 403, 404, 410];

/** Up to this size a file is fetched whole from a host that does not serve ranges. */
const MAX_WHOLE_FILE_BYTES = 64 * 1024 * 1024;

/** A transfer that broke off after at least this much counts as progress: the count of failures begins anew. */
const PROGRESS_BYTES = 64 * 1024;

/**
 * Opens a file without a request. The first read asks the hub where the bytes are; that address serves every
 * later read until the storage host refuses it, then the hub is asked again.
 *
 * Reads that break off continue where they stopped. Nothing but the declared bytes is ever handed on: a body
 * that is shorter, longer, of another total size or of another hash ends in `hub_bad_response`.
 */
export function openFile(requester: Requester, location: FileLocation, context: RequestContext): ByteSource {
  const { path, byteLength, sha256 } = location;
  const subject = { ...context.subject, file: path };
  const address = new URL(
    `${requester.endpoint.href.replace(/\/$/, '')}/datasets/${location.dataset}/resolve/${location.commit}/${encodeFilePath(path)}`,
  );
  /** Where the bytes were last found; null until known. */
  let found: URL | null = null;
  let etag: string | null = null;
  let whole: Bytes | null = null;

  const broken = (reason: string): HubError =>
    new HubError('hub_bad_response', `${shorten(path)}: ${reason}`);

  /** Asks for the bytes from `start`; the answer may begin at 0 where the host ignores ranges. */
  async function request(
    start: number,
    end: number,
    reading: RequestContext,
  ): Promise<{ answer: HubResponse; at: number }> {
    const headers: Record<string, string> = {};
    if (start > 0 || end < byteLength) headers['range'] = `bytes=${start}-${end - 1}`;
    // A weak tag says nothing about bytes (RFC 9110 section 13.1.5).
    if (start > 0 && etag !== null && !etag.startsWith('W/')) headers['if-range'] = etag;

    let answer: HubResponse | undefined;
    if (found !== null) {
      const url = found;
      answer = await requester.open(
        { kind: 'file', url, headers, accept: [416, ...EXPIRED], subject },
        reading,
      );
      if (EXPIRED.includes(answer.status)) {
        await answer.discard();
        answer = undefined;
        found = null;
      }
    }
    answer ??= await requester.open({ kind: 'file', url: address, headers, accept: [416], subject }, reading);
    try {
      return { answer, at: checkAnswer(answer, start, headers['range'] !== undefined) };
    } catch (error) {
      await answer.discard();
      throw error;
    }
  }

  /** @returns the offset of the first byte of the body */
  function checkAnswer(answer: HubResponse, start: number, ranged: boolean): number {
    if (answer.status === 416) throw broken(`is shorter than the ${byteLength} bytes that the hub declares`);
    for (const hop of answer.hops) {
      const size = hop.get('x-linked-size');
      if (size !== null && size !== String(byteLength)) {
        throw broken(`has ${shorten(size)} bytes, but the listing declares ${byteLength}`);
      }
      const hash = unquoted(hop.get('x-linked-etag'));
      if (hash !== null && sha256 !== null && /^[0-9a-f]{64}$/i.test(hash) && hash.toLowerCase() !== sha256) {
        throw broken('is another file than the one listed');
      }
    }
    const tag = answer.headers.get('etag');
    if (etag !== null && tag !== null && unquoted(tag) !== unquoted(etag)) {
      throw broken('changed while it was read');
    }
    etag = tag ?? etag;
    found = answer.url;

    if (answer.status !== 206) {
      const length = answer.headers.get('content-length');
      const encoded = answer.headers.get('content-encoding') !== null;
      if (length !== null && !encoded && length !== String(byteLength)) {
        throw broken(`comes with ${shorten(length)} bytes, but the listing declares ${byteLength}`);
      }
      return 0;
    }
    if (!ranged) throw broken('comes in part though all of it was asked for');
    const range = answer.headers.get('content-range');
    // Not every host lets browsers see this header; the count of bytes is checked in any case.
    if (range === null) return start;
    const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(range);
    if (match === null || Number(match[1]) !== start) throw broken('comes with another range than asked for');
    if (match[3] !== '*' && Number(match[3]) !== byteLength) {
      throw broken(`has ${match[3]} bytes, but the listing declares ${byteLength}`);
    }
    return start;
  }

  /** The bytes from `start` to `end` in pieces; a transfer that breaks off goes on where it stopped. */
  async function* span(
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    const reading: RequestContext = { ...context, signal: joinSignals(context.signal, signal), subject };
    const ranged = start > 0 || end < byteLength;
    let at = start;
    let failures = 0;
    let failingSinceMs = 0;
    while (at < end) {
      const began = at;
      try {
        const { answer, at: bodyStart } = await request(at, end, reading);
        let offset = bodyStart;
        try {
          if (ranged && answer.status !== 206) throw new RangeIgnoredError();
          for await (const chunk of answer.chunks()) {
            const from = Math.max(at - offset, 0);
            const to = Math.min(end - offset, chunk.length);
            offset += chunk.length;
            if (to > from) {
              at = offset - chunk.length + to;
              yield from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to);
            }
            // The body is read to its end, so that the connection serves the next request.
            if (offset > end) throw broken(`has more bytes than the hub declares (${end})`);
          }
        } finally {
          await answer.discard();
        }
        if (at < end) throw tooShort(answer, at);
      } catch (error) {
        if (at - began >= PROGRESS_BYTES) failures = 0;
        if (failures === 0) failingSinceMs = requester.clock.nowMs();
        await requester.recover(error, failures, failingSinceMs, reading);
        failures++;
      }
    }
  }

  function tooShort(answer: HubResponse, at: number): RetryableError {
    return new RetryableError(
      { status: null, kind: answer.fromHub ? 'file' : 'storage', host: answer.url.host },
      () => broken(`ends after ${at} of ${byteLength} bytes`),
    );
  }

  async function collect(start: number, end: number, signal: AbortSignal | undefined): Promise<Bytes> {
    const bytes = new Uint8Array(end - start);
    let at = 0;
    for await (const chunk of span(start, end, signal)) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }

  async function readRange(start: number, end: number, signal?: AbortSignal): Promise<Bytes> {
    if (!(start >= 0 && end >= start && end <= byteLength)) {
      throw broken(`has no bytes ${start} to ${end}, it is ${byteLength} bytes long`);
    }
    if (whole === null) {
      try {
        return await collect(start, end, signal);
      } catch (error) {
        if (!(error instanceof RangeIgnoredError)) throw error;
        if (byteLength > MAX_WHOLE_FILE_BYTES) {
          throw broken(`${byteLength} bytes on a host that does not serve ranges cannot be read in parts`);
        }
      }
      whole ??= await collect(0, byteLength, signal);
    }
    return whole.slice(start, end);
  }

  async function* stream(signal?: AbortSignal, head: readonly Uint8Array[] = []): AsyncGenerator<Uint8Array> {
    const hash = sha256 === null ? null : createSha256();
    let start = 0;
    for (const chunk of head) {
      start += chunk.length;
      hash?.update(chunk);
      yield chunk;
    }
    for await (const chunk of span(start, byteLength, signal)) {
      hash?.update(chunk);
      yield chunk;
    }
    if (hash !== null && hash.hex() !== sha256) throw broken('does not have the SHA-256 that the hub states');
  }

  return { path, byteLength, readRange, stream };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The host answered a range request with the whole file. */
class RangeIgnoredError extends Error {}

/** The text of an entity tag without its quotes. */
function unquoted(tag: string | null): string | null {
  return tag === null ? null : tag.replace(/^(?:W\/)?"(.*)"$/, '$1');
}
