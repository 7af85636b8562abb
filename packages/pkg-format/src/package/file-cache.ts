/** Contents of files, those used last; together they have at most so many bytes. */
export class FileCache {
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #contents = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(path: string): Uint8Array | undefined {
    const content = this.#contents.get(path);
    if (content === undefined) return undefined;
    this.#contents.delete(path);
    this.#contents.set(path, content);
    return content;
  }

  /** Keeps a content; one that is larger than the whole cache is not kept. */
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
