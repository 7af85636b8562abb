import type { HubResponse, RequestContext } from '../http/request.ts';
import type { Requester } from '../http/requester.ts';
import { checkFileResponse, type FileLocation } from './file-response.ts';
import { encodeFilePath } from './validate-path.ts';

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
