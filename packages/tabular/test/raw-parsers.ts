import type { ParquetParsers } from 'hyparquet';
import { isoDate, isoTimestamp } from '../src/scalars/times.ts';

/** Makes hyparquet hand out cells in the form that `compileCell` takes. */
export const RAW_PARSERS: ParquetParsers = {
  timestampFromMilliseconds: (millis) => isoTimestamp(BigInt(millis) * 1_000_000n),
  timestampFromMicroseconds: (micros) => isoTimestamp(BigInt(micros) * 1000n),
  timestampFromNanoseconds: (nanos) => isoTimestamp(BigInt(nanos)),
  dateFromDays: (days) => isoDate(days),
  stringFromBytes: (bytes) => UTF_8.decode(bytes),
  jsonFromBytes: (bytes) => UTF_8.decode(bytes),
  geometryFromBytes: (bytes) => bytes,
  geographyFromBytes: (bytes) => bytes,
  uuidFromBytes: (bytes) => uuidText(bytes),
};

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function uuidText(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
