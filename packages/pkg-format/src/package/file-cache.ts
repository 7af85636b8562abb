/** Keeps the most recently used files, up to a total of bytes. */
export class FileCache {
  readonly #maxBytes: number;
  /** The least recently used file first. */
  readonly #contents = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The content of a file, if it is kept. */
  get(path: string): Uint8Array | undefined {
    const content = this.#contents.get(path);
    if (content === undefined) return undefined;
    this.#contents.delete(path);
    this.#contents.set(path, content);
    return content;
  }

  /** Adds a file, unless it is larger than the whole cache. */
  set(path: string, content: Uint8Array): void {
    if (content.byteLength > this.#maxBytes) return;
    this.delete(path);
    this.#contents.set(path, content);
    this.#bytes += content.byteLength;
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(path: string): void {
    const content = this.#contents.get(path);
    if (content === undefined) return;
    this.#contents.delete(path);
    this.#bytes -= content.byteLength;
  }
}
