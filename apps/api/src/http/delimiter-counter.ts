/** Counts the delimiters of a multipart body while it arrives, after the first one: those of parts without a name too. */
export class DelimiterCounter {
  count = 0;
  readonly #delimiter: Buffer;
  /** The end of the bytes so far, which may be the start of a delimiter. */
  #rest: Buffer = Buffer.alloc(0);

  /** @param contentType of the body, with the boundary */
  constructor(contentType: string) {
    const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^;]*))/i.exec(contentType) ?? [];
    this.#delimiter = Buffer.from(`\r\n--${(quoted ?? plain ?? '').trim()}`);
  }

  add(chunk: Buffer): void {
    const delimiter = this.#delimiter;
    const seam = Buffer.concat([this.#rest, chunk.subarray(0, delimiter.length - 1)]);
    this.#countIn(seam);
    this.#countIn(chunk);
    const end = chunk.length < delimiter.length ? seam : chunk;
    this.#rest = Buffer.from(end.subarray(Math.max(0, end.length - delimiter.length + 1)));
  }

  #countIn(bytes: Buffer): void {
    const delimiter = this.#delimiter;
    for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
      this.count += 1;
    }
  }
}
