import type { OwnBytes } from '@svc/jsonl-v23/bytes';
import { type ByteSource, joinSignals, shorten } from '@svc/tabular';
import { createSha256 } from '#platform';
import { HubError } from '../errors.ts';
import { RetryableError } from '../http/errors.ts';
import type { HubResponse } from '../http/request.ts';
import type { Requester } from '../http/requester.ts';
import { encodeFilePath } from './validate-path.ts';

/** A file of a repository at one commit, as the listing declares it. */
export interface FileLocation {
  /** Current id of the repository. */
  readonly dataset: string;
  readonly commit: string;
  readonly path: string;
  readonly byteLength: number;
  /** SHA-256 of the content in lower-case hex; null if the hub does not declare one. */
  readonly sha256: string | null;
}

function invalidFile(path: string, reason: string): HubError {
  return new HubError('hub_bad_response', `Cannot read ${shorten(path)}: ${reason}.`);
}

/** Up to this size, a file is fetched whole from a host that does not serve ranges. */
const MAX_WHOLE_FILE_BYTES = 64 * 1024 * 1024;
/** A transfer that fails after at least this much has made progress: failures are counted from zero. */
const PROGRESS_BYTES = 64 * 1024;

class RangeIgnoredError extends Error {}

/**
 * A file that is opened without a request, and holds little until it is read: a split may have 100,000 files. Interrupted
 * reads continue where they stopped. Only declared bytes are returned: a body that is shorter, longer, or has another total
 * size or hash ends in `hub_bad_response`.
 *
 * The first request asks the hub for the address of the bytes; that address serves every later one until the storage host
 * refuses it, then the hub is asked again.
 */
export class HubFile implements ByteSource {
  readonly path: string;
  readonly byteLength: number;
  readonly #requester: Requester;
  readonly #location: FileLocation;
  /** Where the bytes were last; null until known. */
  #storage: URL | null = null;
  #etag: string | null = null;
  /** The whole file, if its host does not serve ranges. */
  #whole: OwnBytes | null = null;

  constructor(requester: Requester, location: FileLocation) {
    this.path = location.path;
    this.byteLength = location.byteLength;
    this.#requester = requester;
    this.#location = location;
  }

  async readRange(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes> {
    const { path, byteLength } = this;
    if (!(start >= 0 && end >= start && end <= byteLength)) {
      throw invalidFile(path, `it has ${byteLength} bytes, not the bytes ${start} to ${end}`);
    }
    if (this.#whole === null) {
      try {
        return await this.#collect(start, end, signal);
      } catch (error) {
        if (!(error instanceof RangeIgnoredError)) throw error;
        if (byteLength > MAX_WHOLE_FILE_BYTES) {
          throw invalidFile(path, `it has ${byteLength} bytes, and its host does not serve ranges`);
        }
      }
      this.#whole ??= await this.#collect(0, byteLength, signal);
    }
    return new Uint8Array(this.#whole.subarray(start, end));
  }

  async *stream(signal?: AbortSignal, head: readonly Uint8Array[] = []): AsyncGenerator<Uint8Array> {
    const { sha256 } = this.#location;
    const hash = sha256 === null ? null : createSha256();
    let start = 0;
    for (const chunk of head) {
      start += chunk.length;
      hash?.update(chunk);
      yield chunk;
    }
    for await (const chunk of this.#span(start, this.byteLength, signal)) {
      hash?.update(chunk);
      yield chunk;
    }
    if (hash !== null && hash.hex() !== sha256) {
      throw invalidFile(this.path, 'its SHA-256 is not the one that the hub declares');
    }
  }

  async #collect(start: number, end: number, signal: AbortSignal | undefined): Promise<OwnBytes> {
    const bytes = new Uint8Array(end - start);
    let offset = 0;
    for await (const chunk of this.#span(start, end, signal)) {
      bytes.set(chunk, offset);
      offset += chunk.length;
    }
    return bytes;
  }

  /** The bytes from `start` to `end`, in as many requests as it takes. */
  async *#span(start: number, end: number, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    if (start >= end) return;
    const { context } = this.#requester;
    const requester = this.#requester.with({
      subject: { ...context.subject, file: this.path },
      signal: joinSignals(context.signal, signal),
    });
    const isRange = start > 0 || end < this.byteLength;
    let next = start;
    let attemptStart = start;
    const attempt = async function* (this: HubFile): AsyncGenerator<Uint8Array, void, undefined> {
      attemptStart = next;
      for await (const chunk of this.#transfer(next, end, isRange, requester)) {
        next += chunk.length;
        yield chunk;
      }
    };
    const madeProgress = (): boolean => next - attemptStart >= PROGRESS_BYTES;
    yield* requester.resume(attempt.bind(this), madeProgress);
  }

  async *#transfer(
    start: number,
    end: number,
    mustBeRange: boolean,
    requester: Requester,
  ): AsyncGenerator<Uint8Array> {
    const { response, offset: bodyStart } = await this.#open(start, end, requester);
    const { received } = requester.context;
    let next = start;
    let offset = bodyStart;
    try {
      if (mustBeRange && response.status !== 206) throw new RangeIgnoredError();
      for await (const chunk of response.chunks()) {
        const from = Math.max(next - offset, 0);
        const to = Math.min(end - offset, chunk.length);
        offset += chunk.length;
        if (received !== undefined) received.bytes += chunk.length;
        if (to > from) {
          next = offset - chunk.length + to;
          yield from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to);
        }
        // The body is read to its end, so that the connection serves the next request.
        if (offset > end) throw invalidFile(this.path, `it has more than the declared ${end} bytes`);
      }
    } finally {
      await response.discard();
    }
    if (next < end) {
      const error = invalidFile(this.path, `it ends after ${next} of ${this.byteLength} bytes`);
      const kind = response.fromHub ? 'file' : 'storage';
      throw new RetryableError(error, { kind, host: response.url.host });
    }
  }

  /** @returns the response, and the offset of its first byte: 0 if the host ignores ranges */
  async #open(
    start: number,
    end: number,
    requester: Requester,
  ): Promise<{ response: HubResponse; offset: number }> {
    const isRange = start > 0 || end < this.byteLength;
    const headers: Record<string, string> = {};
    if (isRange) headers['range'] = `bytes=${start}-${end - 1}`;
    // A weak tag does not identify bytes (RFC 9110 section 13.1.5).
    if (start > 0 && this.#etag !== null && !this.#etag.startsWith('W/')) headers['if-range'] = this.#etag;
    const response = await this.#send(headers, requester);
    try {
      const offset = checkFileResponse(response, this.#location, { start, isRange, etag: this.#etag });
      this.#etag = response.headers.get('etag') ?? this.#etag;
      this.#storage = response.url;
      return { response, offset };
    } catch (error) {
      await response.discard();
      throw error;
    }
  }

  async #send(headers: Readonly<Record<string, string>>, requester: Requester): Promise<HubResponse> {
    const request = { kind: 'file', headers } as const;
    if (this.#storage !== null) {
      const accept = [416, ...EXPIRED];
      const response = await requester.open({ ...request, url: this.#storage, accept });
      if (!EXPIRED.includes(response.status)) return response;
      await response.discard();
      this.#storage = null;
    }
    const { dataset, commit, path } = this.#location;
    const url = requester.urlOf(`/datasets/${dataset}/resolve/${commit}/${encodeFilePath(path)}`);
    return await requester.open({ ...request, url, accept: [416] });
  }
}

/**
 * @param start first byte that was requested
 * @param etag entity tag of the responses before; null for the first one
 * @returns the offset of the first byte of the body: 0 if the host ignores ranges
 */
function checkFileResponse(
  { status, headers, hops }: HubResponse,
  { path, byteLength, sha256 }: FileLocation,
  { start, isRange, etag }: { start: number; isRange: boolean; etag: string | null },
): number {
  const declared = `the hub declares ${byteLength}`;
  if (status === 416) throw invalidFile(path, `it has fewer bytes, ${declared}`);
  for (const hop of hops) {
    const size = hop.get('x-linked-size');
    if (size !== null && size !== String(byteLength)) {
      throw invalidFile(path, `it has ${shorten(size)} bytes, ${declared}`);
    }
    const hash = unquoted(hop.get('x-linked-etag'));
    if (hash !== null && sha256 !== null && /^[0-9a-f]{64}$/i.test(hash) && hash.toLowerCase() !== sha256) {
      throw invalidFile(path, 'it is not the listed file');
    }
  }
  const tag = headers.get('etag');
  if (etag !== null && tag !== null && unquoted(tag) !== unquoted(etag)) {
    throw invalidFile(path, 'it changed while it was read');
  }
  if (status !== 206) {
    const length = headers.get('content-length');
    const isEncoded = headers.get('content-encoding') !== null;
    if (length !== null && !isEncoded && length !== String(byteLength)) {
      throw invalidFile(path, `the response has ${shorten(length)} bytes, ${declared}`);
    }
    return 0;
  }
  if (!isRange) throw invalidFile(path, 'the response is partial, but the whole file was requested');
  const range = headers.get('content-range');
  // Not every host lets browsers read this header; the bytes are counted in any case.
  if (range === null) return start;
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(range);
  if (match === null || Number(match[1]) !== start) {
    throw invalidFile(path, 'the response has another range than the request');
  }
  if (match[3] !== '*' && Number(match[3]) !== byteLength) {
    throw invalidFile(path, `it has ${match[3]} bytes, ${declared}`);
  }
  return start;
}

function unquoted(tag: string | null): string | null {
  return tag === null ? null : tag.replace(/^(?:W\/)?"(.*)"$/, '$1');
}

/** Statuses of a storage host for a signed address that has expired. */
const EXPIRED: readonly number[] = [400, 401, 403, 404, 410];
