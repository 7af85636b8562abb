import type { OwnBytes } from '@svc/jsonl-v23/internal';
import type { ByteSource } from '@svc/tabular';
import { joinSignals } from '@svc/tabular/internal';
import { createSha256 } from '#platform';
import { RetryableError } from '../http/errors.ts';
import type { RequestContext } from '../http/request.ts';
import type { Requester } from '../http/requester.ts';
import { type FileLocation, FileRequester, invalidFile } from './file-requester.ts';

/** Up to this size, a file is fetched whole from a host that does not serve ranges. */
const MAX_WHOLE_FILE_BYTES = 64 * 1024 * 1024;
/** A transfer that fails after at least this much has made progress: failures are counted from zero. */
const PROGRESS_BYTES = 64 * 1024;

/** The host answered a range request with the whole file. */
class RangeIgnoredError extends Error {}

/**
 * Opens a file without a request. Interrupted reads continue where they stopped. Only declared bytes are returned: a
 * body that is shorter, longer, or has another total size or hash ends in `hub_bad_response`.
 */
export function openFile(requester: Requester, location: FileLocation, context: RequestContext): ByteSource {
  return new HubFile(requester, location, context);
}

class HubFile implements ByteSource {
  readonly path: string;
  readonly byteLength: number;
  readonly #requester: Requester;
  readonly #location: FileLocation;
  readonly #context: RequestContext;
  readonly #requests: FileRequester;
  /** The whole file, if its host does not serve ranges. */
  #whole: OwnBytes | null = null;

  constructor(requester: Requester, location: FileLocation, context: RequestContext) {
    this.path = location.path;
    this.byteLength = location.byteLength;
    this.#requester = requester;
    this.#location = location;
    this.#context = { ...context, subject: { ...context.subject, file: location.path } };
    this.#requests = new FileRequester(requester, location);
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
    const context = { ...this.#context, signal: joinSignals(this.#context.signal, signal) };
    const isRange = start > 0 || end < this.byteLength;
    let next = start;
    let attemptStart = start;
    const attempt = async function* (this: HubFile): AsyncGenerator<Uint8Array, void, undefined> {
      attemptStart = next;
      for await (const chunk of this.#transfer(next, end, isRange, context)) {
        next += chunk.length;
        yield chunk;
      }
    };
    const madeProgress = (): boolean => next - attemptStart >= PROGRESS_BYTES;
    yield* this.#requester.resume(attempt.bind(this), madeProgress, context);
  }

  /** The bytes from `start` to `end`, in one request. */
  async *#transfer(
    start: number,
    end: number,
    mustBeRange: boolean,
    context: RequestContext,
  ): AsyncGenerator<Uint8Array> {
    const { response, offset: bodyStart } = await this.#requests.open(start, end, context);
    let next = start;
    let offset = bodyStart;
    try {
      if (mustBeRange && response.status !== 206) throw new RangeIgnoredError();
      for await (const chunk of response.chunks()) {
        const from = Math.max(next - offset, 0);
        const to = Math.min(end - offset, chunk.length);
        offset += chunk.length;
        if (context.received !== undefined) context.received.bytes += chunk.length;
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
}
