import { entryError, type PackageError } from '../errors.ts';
import { crc32 } from './crc32.ts';
import { decodeUtf8 } from './entry-name.ts';

const EXTRA_ZIP64 = 0x0001;
const EXTRA_UNICODE_PATH = 0x7075;

/** The name in a Unicode Path field (section 4.6.9); null if absent, of another version, or for another name. */
export function unicodePath(extra: DataView, rawName: Uint8Array): string | null {
  const [field] = extraFields(extra, EXTRA_UNICODE_PATH);
  if (!field || field.byteLength < 6 || field.getUint8(0) !== 1) return null;
  if (field.getUint32(1, true) !== crc32(rawName, 0)) return null;
  return decodeUtf8(new Uint8Array(field.buffer, field.byteOffset + 5, field.byteLength - 5));
}

/** The fields of a header that a zip64 field replaces. */
export interface EntrySizes {
  readonly size: number;
  readonly compressedSize: number;
  readonly headerStart: number;
}

/**
 * Replaces those sizes whose 32 bits are all set by the 64-bit values of the zip64 field, which has them in this order
 * (section 4.5.3).
 *
 * @throws PackageError `package_corrupt`
 */
export function withZip64Sizes(name: string, extra: DataView, sizes: EntrySizes): EntrySizes {
  const [field, ...others] = extraFields(extra, EXTRA_ZIP64);
  if (others.length > 0) throw corrupt(name, 'has two zip64 fields');
  // Without the field the size really is 4 GiB less one byte.
  if (!field) return sizes;
  let at = 0;
  const wide = (value: number): number => {
    if (value !== 0xffffffff) return value;
    if (at + 8 > field.byteLength) throw corrupt(name, 'lacks a zip64 size that its header refers to');
    at += 8;
    return readUint64(field, at - 8);
  };
  const size = wide(sizes.size);
  const compressedSize = wide(sizes.compressedSize);
  return { size, compressedSize, headerStart: wide(sizes.headerStart) };
}

/**
 * Refuses a field that is longer than the space for it. Up to three bytes after the last field are padding.
 *
 * @throws PackageError `package_corrupt`
 */
export function checkExtraFields(name: string, extra: DataView): void {
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (at + 4 + extra.getUint16(at + 2, true) > extra.byteLength) {
      throw corrupt(name, 'has an extra field that is longer than the space for it');
    }
  }
}

function extraFields(extra: DataView, id: number): DataView[] {
  const found: DataView[] = [];
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const length = extra.getUint16(at + 2, true);
    // Some tools pad with other bytes, which no field can follow.
    if (at + 4 + length > extra.byteLength) break;
    if (extra.getUint16(at, true) === id)
      found.push(new DataView(extra.buffer, extra.byteOffset + at + 4, length));
    at += 4 + length;
  }
  return found;
}

/** An unsigned 64-bit number; one that a double cannot hold becomes the largest safe integer. */
export function readUint64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  // It is compared only with smaller numbers, so the replacement never passes for the true value.
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** The error for an entry whose records contradict each other. */
export function corrupt(name: string, problem: string): PackageError {
  return entryError('package_corrupt', name, problem);
}
