import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { type Compressors, parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { TableError } from '../src/errors.ts';
import { inflateHadoopLz4, inflateLz4Block } from '../src/parquet/codecs/inflate-block.ts';
import { featuresFromParquet } from '../src/parquet/metadata/features-from-parquet.ts';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import type { ByteSource } from '../src/source/byte-source.ts';
import { compileRow } from './compile-row.ts';
import { memoryFile } from './memory-file.ts';
import { ENGINE_MESSAGES, mutateParquet, randomNumbers } from './mutate-parquet.ts';
import { fileAmongNeighbours } from './neighbours.ts';
import { rawMetadata } from './raw-metadata.ts';
import { RAW_PARSERS } from './raw-parsers.ts';
import { PAGE_KINDS, sampleFiles } from './sample-parquet.ts';

const SAMPLES = sampleFiles();
const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
  ZSTD: (input) => zstdDecompressSync(input),
  LZ4_RAW: inflateLz4Block,
  LZ4: inflateHadoopLz4,
};
/** The rows, or the error. */
async function outcome(file: ByteSource): Promise<string> {
  try {
    const source = await openParquetTable([file], { everyFooter: true, signal: undefined });
    const columns = source.features.map(({ name }) => name);
    const range = { from: 0, to: 1000, columns, signal: undefined };
    const found: string[] = [];
    for await (const { rows } of source.read(range)) found.push(...rows.map((row) => canonicalJson(row)));
    return found.join('\n');
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    expect(['damaged_file', 'unsupported_file']).toContain(error.code);
    expect(error.message).toMatch(/^(?:Cannot read the Parquet file: |The schema of a Parquet file )/);
    expect(error.message).not.toMatch(ENGINE_MESSAGES);
    return `${error.code}: ${error.message}`;
  }
}

describe.each(SAMPLES)('a file of $name', ({ make }) => {
  it.each(PAGE_KINDS)('in $codec pages of version $version is what hyparquet reads', async (kind) => {
    const bytes = make(kind);
    const metadata = parquetMetadata(bytes);
    const expected = await parquetReadObjects({
      file: bytes.slice().buffer,
      metadata: rawMetadata(metadata),
      parsers: RAW_PARSERS,
      utf8: false,
      compressors,
    });
    const features = featuresFromParquet(metadata);
    const convert = compileRow(features);
    const source = await openParquetTable([memoryFile(bytes)], {
      everyFooter: true,
      signal: undefined,
    });
    const found: JsonValue[] = [];
    const columns = features.map(({ name }) => name);
    for await (const { rows } of source.read({ from: 0, columns, signal: undefined })) {
      found.push(...rows);
    }
    expect(found.map((row) => canonicalJson(row))).toEqual(
      expected.map((row) => canonicalJson(convert(row))),
    );
  });
});

describe('bytes of a neighbour', () => {
  const neighbours = async (bytes: Uint8Array): Promise<string> => {
    const first = await outcome(fileAmongNeighbours(bytes, 0x4a));
    const second = await outcome(fileAmongNeighbours(bytes, 0x51));
    // What comes out of a file depends on the file alone.
    expect(second).toBe(first);
    return first;
  };

  const lies: Array<[string, string, (metadata: ReturnType<typeof parquetMetadata>) => void]> = [
    [
      'fixed values that are sixteen times as long as in the page',
      'fixed',
      ({ schema }) => {
        for (const element of schema) if (element.name === 'fixed') element.type_length = 160;
      },
    ],
    [
      'numbers of 64 bits where the page has 32',
      'small',
      ({ schema, row_groups: groups }) => {
        const index = schema.findIndex(({ name }) => name === 'small');
        schema[index]!.type = 'INT64';
        for (const { columns } of groups) columns[index - 1]!.meta_data!.type = 'INT64';
      },
    ],
    [
      'numbers of 64 bits in the schema alone',
      'small',
      ({ schema }) => {
        schema.find(({ name }) => name === 'small')!.type = 'INT64';
      },
    ],
    [
      'double for single precision',
      'single',
      ({ schema, row_groups: groups }) => {
        const index = schema.findIndex(({ name }) => name === 'single');
        schema[index]!.type = 'DOUBLE';
        for (const { columns } of groups) columns[index - 1]!.meta_data!.type = 'DOUBLE';
      },
    ],
  ];
  const lying = SAMPLES.filter(({ encoding }) =>
    ['PLAIN', 'RLE_DICTIONARY', 'BYTE_STREAM_SPLIT'].includes(encoding),
  );
  it.each(lies)('are not read for %s', async (_name, column, metadata) => {
    let tried = 0;
    const flat = lying.filter(({ name }) => !name.includes('nested'));
    for (const [index, { name, make }] of flat.entries()) {
      // `npm test` reads each codec in pages of one version, of every other file in those of the other
      const kinds = PAGE_KINDS.filter(({ version }) => IS_LONG || version === 1 + (index % 2));
      for (const kind of kinds) {
        const found = await neighbours(make({ ...kind, metadata }));
        expect([name, kind, found]).toEqual([name, kind, expect.stringMatching(/^damaged_file: /)]);
        expect(found).toContain(column);
        tried += 1;
      }
    }
    expect(tried).toBe((6 * PAGE_KINDS.length) / (IS_LONG ? 1 : 2));
  });

  const FILES = IS_LONG ? 20_000 : 300;
  it(`are in no row of ${FILES} mutated files, and no message is the runtime's`, {
    timeout: 3_600_000,
  }, async () => {
    const random = randomNumbers(20_250_711);
    const seeds = SAMPLES.flatMap(({ make }) => PAGE_KINDS.map((kind) => make(kind)));
    let refused = 0;
    for (let index = 0; index < FILES; index += 1) {
      const bytes = mutateParquet(seeds[index % seeds.length]!, random);
      const found = await neighbours(bytes);
      if (/^(?:damaged|unsupported)_file/.test(found)) refused += 1;
    }
    // Neither all nor none.
    expect(refused).toBeGreaterThan(FILES / 10);
    expect(refused).toBeLessThan(FILES);
  });
});
