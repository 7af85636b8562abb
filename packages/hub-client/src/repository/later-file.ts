import type { OwnBytes } from '@svc/jsonl-v23/internal';
import type { ByteSource } from '@svc/tabular/internal';
import type { RequestContext } from '../http/request.ts';
import type { ListedFile } from './list-files.ts';

/** Opens a listed file for a request. */
type OpenListed = (file: ListedFile, context: RequestContext) => ByteSource;

/**
 * A file that is opened when it is first read: a split may have 100,000 files, and few are read at a time. It holds
 * what many files share, and nothing of its own.
 */
export class LaterFile implements ByteSource {
  readonly #listed: ListedFile;
  readonly #context: RequestContext;
  readonly #open: OpenListed;
  #file: ByteSource | undefined;

  constructor(listed: ListedFile, context: RequestContext, open: OpenListed) {
    this.#listed = listed;
    this.#context = context;
    this.#open = open;
  }

  get path(): string {
    return this.#listed.path;
  }

  get byteLength(): number {
    return this.#listed.size;
  }

  readRange(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes> {
    return this.#opened().readRange(start, end, signal);
  }

  stream(signal?: AbortSignal, head?: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    return this.#opened().stream(signal, head);
  }

  #opened(): ByteSource {
    this.#file ??= this.#open(this.#listed, this.#context);
    return this.#file;
  }
}
