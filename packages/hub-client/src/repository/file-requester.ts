import { shorten } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import type { HubResponse, RequestContext } from '../http/request.ts';
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

/** The error for a file whose bytes differ from what the hub declares. */
export function invalidFile(path: string, reason: string): HubError {
  return new HubError('hub_bad_response', `Cannot read ${shorten(path)}: ${reason}.`);
}

/**
 * Checks that a response holds bytes of the declared file.
 *
 * @param start first byte that was requested
 * @param isRange whether a range was requested
 * @param etag entity tag of the responses before; null for the first one
 * @returns the offset of the first byte of the body: 0 if the host ignores ranges
 * @throws HubError `hub_bad_response`
 */
export function checkFileResponse(
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

/** The text of an entity tag without its quotes. */
function unquoted(tag: string | null): string | null {
  return tag === null ? null : tag.replace(/^(?:W\/)?"(.*)"$/, '$1');
}

/** Statuses of a storage host for a signed address that has expired. */
const EXPIRED: readonly number[] = [400, 401, 403, 404, 410];

/**
 * Requests bytes of one file. The first request asks the hub for the address of the bytes; that address serves every later
 * one until the storage host refuses it, then the hub is asked again.
 */
export class FileRequester {
  readonly #requester: Requester;
  readonly #file: FileLocation;
  /** Where the hub redirects from. */
  readonly #address: URL;
  /** Where the bytes were last; null until known. */
  #storage: URL | null = null;
  #etag: string | null = null;

  constructor(requester: Requester, file: FileLocation) {
    this.#requester = requester;
    this.#file = file;
    const { dataset, commit, path } = file;
    this.#address = requester.urlOf(`/datasets/${dataset}/resolve/${commit}/${encodeFilePath(path)}`);
  }

  /**
   * Requests the bytes from `start` to `end` (exclusive).
   *
   * @returns the response, and the offset of its first byte: 0 if the host ignores ranges
   * @throws HubError `hub_bad_response` if they are not bytes of the declared file; as `Requester.open`
   */
  async open(
    start: number,
    end: number,
    context: RequestContext,
  ): Promise<{ response: HubResponse; offset: number }> {
    const isRange = start > 0 || end < this.#file.byteLength;
    const headers: Record<string, string> = {};
    if (isRange) headers['range'] = `bytes=${start}-${end - 1}`;
    // A weak tag does not identify bytes (RFC 9110 section 13.1.5).
    if (start > 0 && this.#etag !== null && !this.#etag.startsWith('W/')) headers['if-range'] = this.#etag;
    const response = await this.#send(headers, context);
    try {
      const offset = checkFileResponse(response, this.#file, { start, isRange, etag: this.#etag });
      this.#etag = response.headers.get('etag') ?? this.#etag;
      this.#storage = response.url;
      return { response, offset };
    } catch (error) {
      await response.discard();
      throw error;
    }
  }

  async #send(headers: Readonly<Record<string, string>>, context: RequestContext): Promise<HubResponse> {
    const request = { kind: 'file', headers } as const;
    if (this.#storage !== null) {
      const accept = [416, ...EXPIRED];
      const response = await this.#requester.open({ ...request, url: this.#storage, accept }, context);
      if (!EXPIRED.includes(response.status)) return response;
      await response.discard();
      this.#storage = null;
    }
    return await this.#requester.open({ ...request, url: this.#address, accept: [416] }, context);
  }
}
