import fc from 'fast-check';
import { expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { CsvScanner, STRICT_RULES } from './csv-scanner.ts';

const piece = fc.constantFrom(
  'a',
  ' ',
  'plain words',
  '"',
  ',',
  '\n',
  '\r\n',
  '\r',
  '\\',
  '\u0001',
  'é',
  '😀',
  '¢ß',
);
const field = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const quoted = (text: string): string => (/["\n\r,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

it('finds the fields and the lines of every record, however the bytes are cut', () => {
  const table = fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(table, fc.array(fc.nat({ max: 40 })), (records, cuts) => {
      const bytes = Buffer.from(records.map((record) => `${record.map(quoted).join(',')}\r\n`).join(''));
      const scanner = new CsvScanner({ ...STRICT_RULES, delimiter: 44, quote: 34 }, 'a.csv', 1000);
      const found: [number, string[]][] = [];
      const readAll = (): void => {
        while (scanner.next()) {
          const { bytes, starts, ends, escaped, fieldCount, line } = scanner;
          const cells = Array.from({ length: fieldCount }, (_, index) => {
            const text = Buffer.from(bytes.subarray(starts[index], ends[index])).toString();
            return escaped[index] === 1 ? text.replaceAll('""', '"') : text;
          });
          found.push([line, cells]);
        }
      };
      let from = 0;
      for (const cut of cuts) {
        scanner.add(bytes.subarray(from, from + cut));
        readAll();
        from += cut;
      }
      scanner.add(bytes.subarray(from));
      readAll();
      scanner.end();
      readAll();
      let line = 1;
      const expected = records.map((record): [number, string[]] => {
        const start = line;
        for (const text of record) line += text.split(/\r\n|\r|\n/).length - 1;
        line += 1;
        return [start, record];
      });
      expect(found).toEqual(expected);
    }),
    { numRuns: times(500, 100) },
  );
});

it('frees what a long record has outgrown', () => {
  const scanner = new CsvScanner({ ...STRICT_RULES, delimiter: 44, quote: 34 }, 'a.csv', 10_000_000);
  const buffers = new Set([scanner.bytes.buffer as ArrayBuffer]);
  scanner.add(Buffer.from('"'));
  for (let count = 0; count < 50; count += 1) {
    scanner.add(Buffer.alloc(64 * 1024, 'x'));
    expect(scanner.next()).toBe(false);
    buffers.add(scanner.bytes.buffer as ArrayBuffer);
  }
  expect([...buffers].filter(({ detached }) => !detached)).toEqual([scanner.bytes.buffer]);
});
