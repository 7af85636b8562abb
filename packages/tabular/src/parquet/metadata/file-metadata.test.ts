import { describe, expect, it } from 'vitest';
import { ParquetError } from '../parquet-error.ts';
import { parseFileMetadata, parsePageLocations } from './file-metadata.ts';

/** A footer with one column of these fields and no row groups; see the compact protocol for the bytes. */
const footer = (...element: number[]): Uint8Array =>
  Uint8Array.from([0x29, 0x1c, ...element, 0x00, 0x29, 0x0c, 0x00]);

describe('parseFileMetadata', () => {
  it('reads a column', () => {
    // Type INT32, repetition REQUIRED, name "x".
    expect(parseFileMetadata(footer(0x15, 0x02, 0x25, 0x00, 0x18, 0x01, 0x78))).toEqual({
      schema: [{ type: 'INT32', repetition_type: 'REQUIRED', name: 'x' }],
      row_groups: [],
    });
  });

  it('refuses a column without a name', () => {
    expect(() => parseFileMetadata(footer(0x15, 0x02))).toThrow('has no name');
  });

  it.each([
    ['nothing', Uint8Array.of()],
    ['a structure without its end', Uint8Array.of(0x15, 0x02)],
    ['a text for a list', Uint8Array.of(0x28, 0x01, 0x78, 0x00)],
    ['a list that is longer than the footer', Uint8Array.of(0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f)],
    ['structures in structures', new Uint8Array(100_000).fill(0x1c)],
    ['lists in lists', Uint8Array.from([0x19, ...new Array<number>(100_000).fill(0x19)])],
    [
      'sixteen million columns of nothing',
      Uint8Array.from([0x29, 0xfc, 0x80, 0x80, 0x80, 0x08, ...new Uint8Array(2 ** 24)]),
    ],
    ['a type that does not exist', Uint8Array.of(0x1d, 0x00)],
  ])('refuses %s', (_name, bytes) => {
    expect(() => parseFileMetadata(bytes)).toThrow(ParquetError);
    expect(() => parsePageLocations(bytes)).toThrow(ParquetError);
  });
});
