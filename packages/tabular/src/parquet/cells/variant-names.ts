import { damaged, unsupported } from '../parquet-error.ts';
import { decodeText } from './texts.ts';

/** The names of a VARIANT's members (Parquet format, "Metadata encoding"). A name is decoded when it is first used. */
export class VariantNames {
  /** The bytes that hold the names. */
  readonly bytes: Uint8Array;
  readonly #width: number;
  readonly #count: number;
  /** Index of the first name's first byte. */
  readonly #texts: number;
  readonly #decoded = new Map<number, string>();
  /** Bytes that belong to no name yet. */
  #unread: number;

  /** @throws ParquetError where the bytes contradict the format */
  constructor(bytes: Uint8Array) {
    const [header] = bytes;
    if (header === undefined) throw tooShort();
    const version = header & 0x0f;
    if (version !== 1) throw unsupported(`a VARIANT is of version ${version}`);
    this.bytes = bytes;
    this.#width = (header >> 6) + 1;
    if (bytes.length < 1 + this.#width) throw tooShort();
    this.#count = this.#uint(1);
    this.#texts = 1 + (this.#count + 2) * this.#width;
    if (this.#texts > bytes.length) throw tooShort();
    this.#unread = bytes.length - this.#texts;
  }

  /** The name with an id. @throws ParquetError where there is none, or its bytes are not UTF-8 */
  get(id: number): string {
    const known = this.#decoded.get(id);
    if (known !== undefined) return known;
    if (id >= this.#count) throw damaged('a member of a VARIANT has no name');
    const at = 1 + (id + 1) * this.#width;
    const start = this.#texts + this.#uint(at);
    const end = this.#texts + this.#uint(at + this.#width);
    if (start > end || end > this.bytes.length) throw damaged('a name of a VARIANT reaches beyond its bytes');
    this.#unread -= end - start;
    if (this.#unread < 0) throw damaged('names of a VARIANT overlap');
    const name = decodeText(this.bytes.subarray(start, end));
    this.#decoded.set(id, name);
    return name;
  }

  #uint(at: number): number {
    return readUint(this.bytes, at, this.#width);
  }
}

/** An unsigned number of one to four bytes, the lowest first. */
export function readUint(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let index = width - 1; index >= 0; index -= 1) value = value * 256 + (bytes[at + index] as number);
  return value;
}

function tooShort(): Error {
  return damaged('the names of a VARIANT end early');
}
