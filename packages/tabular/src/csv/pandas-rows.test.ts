import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { memoryFile } from '../../test/memory-file.ts';
import { CachedFile } from '../text/cached-file.ts';
import type { LoaderParams } from '../text/raw-row.ts';
import { PandasRows } from './pandas-rows.ts';
import { readPandasSettings } from './pandas-settings.ts';

/** Rows with a text, or null, for each column. */
async function read(content: string | Uint8Array, params: LoaderParams = {}, path = 'a.csv', size = 1 << 16) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const source = {
    ...memoryFile(bytes, path),
    async *stream() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
    },
  };
  const file = new CachedFile({ ...source, compression: 'none' });
  const rows = new PandasRows(readPandasSettings(params, path), { file: path, maxRowSize: 1000 });
  const found: unknown[] = [];
  for await (const group of rows.read(file)) {
    for (const row of group) {
      const values = [...row.columns].map(([name, column]): [string, string | null] => {
        if (row.isNull(column)) return [name, null];
        const text = row.text(column);
        if (text === null) throw row.notUtf8(column);
        return [name, text];
      });
      found.push(Object.fromEntries(values));
    }
  }
  return found;
}

describe('PandasRows', () => {
  it.each<[string, string, unknown[]]>([
    [
      'plain fields',
      'a,b\n1,x\n2,y',
      [
        { a: '1', b: 'x' },
        { a: '2', b: 'y' },
      ],
    ],
    ['quotes', 'a\n"x, ""y"""\n', [{ a: 'x, "y"' }]],
    ['line ends in quotes', 'a,b\n"1\r\n2\n3",z\n', [{ a: '1\r\n2\n3', b: 'z' }]],
    ['a quote inside a field', 'a,b\n5"x,"y"z\n', [{ a: '5"x', b: 'yz' }]],
    ['all line ends', 'a\r\n1\r2\n3\r\n', [{ a: '1' }, { a: '2' }, { a: '3' }]],
    ['blank lines', '\n\na\n\n1\n  \n\t\n2\n\n', [{ a: '1' }, { a: '2' }]],
    ['an empty quoted line', 'a\n""\n', [{ a: null }]],
    ['a byte order mark', '\uFEFFa\n1\n', [{ a: '1' }]],
    [
      'null words',
      'a,b\nNA,"null"\nNone,#N/A\n-nan,na\n,x',
      [
        { a: null, b: null },
        { a: null, b: null },
        { a: null, b: 'na' },
        { a: null, b: 'x' },
      ],
    ],
    [
      'short rows',
      'a,b,c\n1\n1,2\n',
      [
        { a: '1', b: null, c: null },
        { a: '1', b: '2', c: null },
      ],
    ],
    ['repeated names', 'a,a,a\n1,2,3\n', [{ a: '1', 'a.1': '2', 'a.2': '3' }]],
    ['repeated names that clash', 'a,a.1,a\n1,2,3\n', [{ a: '1', 'a.1': '2', 'a.2': '3' }]],
    ['names that are missing', ',a,\n0,1,2\n', [{ 'Unnamed: 0': '0', a: '1', 'Unnamed: 2': '2' }]],
    [
      'rows with an index before the columns',
      'a,b\nx,1,2\ny,3,4\n',
      [
        { a: '1', b: '2', __index_level_0__: 'x' },
        { a: '3', b: '4', __index_level_0__: 'y' },
      ],
    ],
    ['separators that are not guessed', 'a;b\n1;2\n', [{ 'a;b': '1;2' }]],
    ['blanks, which are data', 'a,b\n 1 , 2\n', [{ a: ' 1 ', b: ' 2' }]],
    ['only a header', 'a,b\n', []],
    ['nothing', '', []],
    ['a column called __proto__', '__proto__,a\n1,2\n', [JSON.parse('{"__proto__":"1","a":"2"}')]],
  ])('reads %s', async (_, content, rows) => {
    for (const size of [1 << 16, 1, 3]) expect(await read(content, {}, 'a.csv', size)).toEqual(rows);
  });

  it.each<[string, LoaderParams, string, unknown[]]>([
    ['sep', { sep: ';' }, 'a;b\n1;2', [{ a: '1', b: '2' }]],
    ['delimiter before sep', { sep: ',', delimiter: '|' }, 'a|b\n1|2', [{ a: '1', b: '2' }]],
    [
      'names',
      { names: ['x', 'y'] },
      '1,2\n3,4',
      [
        { x: '1', y: '2' },
        { x: '3', y: '4' },
      ],
    ],
    [
      'column_names in place of a header',
      { column_names: ['x', 'y'], header: 0 },
      'a,b\n3,4',
      [{ x: '3', y: '4' }],
    ],
    ['no header', { header: null }, '1,2', [{ '0': '1', '1': '2' }]],
    ['a header further down', { header: 1 }, 'title\na,b\n3,4', [{ a: '3', b: '4' }]],
    ['skiprows', { skiprows: 2 }, '# x\n\na\n1', [{ a: '1' }]],
    ['a list of skiprows', { skiprows: [0, 2] }, 'x\na\ny\n1', [{ a: '1' }]],
    ['nrows', { nrows: 1 }, 'a\n1\n2', [{ a: '1' }]],
    ['usecols', { usecols: ['b', 0] }, 'a,b,c\n1,2,3', [{ a: '1', b: '2' }]],
    ['quotechar', { quotechar: "'" }, "a\n'x,y'", [{ a: 'x,y' }]],
    ['no quotes', { quoting: 3 }, 'a,b\n"x,y"', [{ a: '"x', b: 'y"' }]],
    ['escapechar', { escapechar: '\\', doublequote: false }, 'a,b\n"x\\"y",a\\,b', [{ a: 'x"y', b: 'a,b' }]],
    [
      'comment',
      { comment: '#' },
      '# c\na,b#x\n1,2\n#y\n3,#4',
      [
        { a: '1', b: '2' },
        { a: '3', b: null },
      ],
    ],
    ['skipinitialspace', { skipinitialspace: true }, 'a, b\n1, "2"', [{ a: '1', b: '2' }]],
    ['blank lines as rows', { skip_blank_lines: false }, 'a\n\n1', [{ a: null }, { a: '1' }]],
    [
      'na_values',
      { na_values: ['-', 9] },
      'a\n-\n9\nNA\n1',
      [{ a: null }, { a: null }, { a: null }, { a: '1' }],
    ],
    [
      'only these null words',
      { na_values: '-', keep_default_na: false },
      'a\n-\nNA',
      [{ a: null }, { a: 'NA' }],
    ],
    ['no null words', { na_filter: false }, 'a,b\nNA,', [{ a: 'NA', b: '' }]],
    ['long rows left out', { on_bad_lines: 'skip' }, 'a\n1\n1,2\n3', [{ a: '1' }, { a: '3' }]],
    ['unknown parameters', { whatever: 1 }, 'a\n1', [{ a: '1' }]],
  ])('applies %s', async (_, params, content, rows) => {
    expect(await read(content, params)).toEqual(rows);
  });

  it('reads tab-separated files by their name', async () => {
    expect(await read('a\tb\n1\tx,y', {}, 'dir/a.tsv.gz')).toEqual([{ a: '1', b: 'x,y' }]);
    expect(await read('a,b\n1,2', { sep: ',' }, 'a.tsv')).toEqual([{ a: '1', b: '2' }]);
  });

  it('reads other encodings', async () => {
    expect(await read(new Uint8Array([97, 10, 0xe9, 0x85, 10]), { encoding: 'latin-1' })).toEqual([
      { a: 'é\u0085' },
    ]);
    expect(await read(new Uint8Array([97, 10, 0x80, 10]), { encoding: 'cp1252' })).toEqual([{ a: '€' }]);
    expect(await read(new Uint8Array([97, 10, 0xff, 10]), { encoding_errors: 'replace' })).toEqual([
      { a: '\uFFFD' },
    ]);
  });

  it.each<[string, string | Uint8Array, number]>([
    ['a row with too many fields', 'a,b\n1,2\n\n"x\ny",2,3\n', 5],
    ['a quote that is never closed', 'a\n1\n"x\ny', 3],
    ['invalid bytes', new Uint8Array([97, 10, 98, 10, 0xe9, 10]), 3],
    ['a row that is too long', `a\n1\n${'x'.repeat(2000)}\n`, 3],
    ['a row of too many fields', `a\n1\n${','.repeat(2000)}\n`, 3],
  ])('refuses %s and names the line', async (_, content, line) => {
    for (const size of [1 << 16, 1]) {
      await expect(read(content, {}, 'a.csv', size)).rejects.toMatchObject({
        code: 'invalid_row',
        location: { file: 'a.csv', line },
      });
    }
  });

  it.each<[encoding: string | undefined, bytes: Buffer]>([
    [undefined, Buffer.from('610ac3a962e2820a63', 'hex')],
    [undefined, Buffer.from('610a22c3a962e28222', 'hex')],
    ['shift_jis', Buffer.from('610aa1b1ff0a63', 'hex')],
  ])('names the place of bytes that are not %s text, wherever the file is cut', async (encoding, bytes) => {
    const column = bytes.includes('"') ? 4 : 3;
    for (let size = 1; size <= bytes.length; size += 1) {
      const reading = read(bytes, encoding === undefined ? {} : { encoding }, 'a.csv', size);
      await expect(reading).rejects.toMatchObject({ code: 'invalid_row', location: { line: 2, column } });
    }
  });

  it.each<[LoaderParams]>([
    [{ sep: '||' }],
    [{ sep: '\n' }],
    [{ sep: '§' }],
    [{ sep: null }],
    [{ header: [0, 1] }],
    [{ encoding: 'klingon' }],
    [{ skipfooter: 1 }],
    [{ decimal: ',' }],
    [{ thousands: '.' }],
    [{ usecols: 'a' }],
    [{ names: ['a', 'a'] }],
    [{ na_values: [{ a: 'x' }] }],
  ])('does not read a file wrongly for %j', async (params) => {
    await expect(read('a\n1\n', params)).rejects.toMatchObject({ code: 'unsupported_file' });
  });

  it('reads the same rows however the bytes are cut', async () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      'é',
      '"',
      "'",
      ',',
      ';',
      '\n',
      '\r\n',
      '\r',
      '\\',
      '#',
      '""',
      'NA',
      '1.5',
    );
    const params = fc.record(
      {
        sep: fc.constantFrom(';', ' '),
        quotechar: fc.constant("'"),
        escapechar: fc.constant('\\'),
        comment: fc.constant('#'),
        doublequote: fc.boolean(),
        skipinitialspace: fc.boolean(),
        skip_blank_lines: fc.boolean(),
        header: fc.constant(null),
        on_bad_lines: fc.constant('skip'),
      },
      { requiredKeys: [] },
    );
    const outcome = (reading: Promise<unknown[]>): Promise<unknown> =>
      reading.catch(({ code, message, location }) => ({ code, message, location }));
    const pieces = fc.array(piece, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(pieces, params, fc.integer({ min: 1, max: 5 }), async (content, given, size) => {
        const text = content.join('');
        expect(await outcome(read(text, given, 'a.csv', size))).toEqual(await outcome(read(text, given)));
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('closes its source when reading stops', async () => {
    let closed = false;
    async function* stream(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new TextEncoder().encode('a\n1\n2\n');
      } finally {
        closed = true;
      }
    }
    const file = new CachedFile({ ...memoryFile(new Uint8Array(), 'a.csv'), stream });
    const rows = new PandasRows(readPandasSettings({}, 'a.csv'), { file: 'a.csv' });
    for await (const _ of rows.read(file)) break;
    expect(closed).toBe(true);
  });
});
