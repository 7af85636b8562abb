import type { OwnBytes } from '@svc/jsonl-v23/internal';
import type { ByteSource } from '@svc/tabular/internal';

/** A file that is opened when it is first read: a split may have 100,000 files, of which few are read at a time. */
export function openLater(
  { path, size }: { readonly path: string; readonly size: number },
  open: () => ByteSource,
): ByteSource {
  return new LaterFile(path, size, open);
}

class LaterFile implements ByteSource {
  readonly path: string;
  readonly byteLength: number;
  readonly #open: () => ByteSource;
  #file: ByteSource | undefined;

  constructor(path: string, byteLength: number, open: () => ByteSource) {
    this.path = path;
    this.byteLength = byteLength;
    this.#open = open;
  }

  readRange(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes> {
    return this.#opened().readRange(start, end, signal);
  }

  stream(signal?: AbortSignal, head?: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    return this.#opened().stream(signal, head);
  }

  #opened(): ByteSource {
    this.#file ??= this.#open();
    return this.#file;
  }
}
