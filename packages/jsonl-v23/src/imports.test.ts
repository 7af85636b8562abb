import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { thrownBy } from '../test/arbitrary-json.ts';
import { FREE_EXPANSION_BYTES, ImportMeter } from './imports.ts';

const LIMITS = { maxTotalBytes: 10 ** 12, maxExpansionRatio: 500, maxRows: 1000 };

describe('ImportMeter', () => {
  it('ends exactly where a sum passes its limit, however it is cut into steps', () => {
    const steps = fc.array(
      fc.record({
        rows: fc.nat(400),
        bytes: fc.nat(60_000_000),
        embeddedBytes: fc.nat(20_000_000),
        skippedRows: fc.nat(100),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(steps, fc.nat(400_000), fc.boolean(), (made, fileBytes, knowsFiles) => {
        const meter = new ImportMeter({ ...LIMITS, maxTotalBytes: 300_000_000 });
        if (knowsFiles) meter.setFileBytes(fileBytes);
        const expansion = knowsFiles
          ? Math.max(FREE_EXPANSION_BYTES, 500 * fileBytes)
          : Number.POSITIVE_INFINITY;
        let [rows, bytes, embeddedBytes] = [0, 0, 0];
        for (const step of made) {
          rows += step.rows;
          bytes += step.bytes + 256 * step.skippedRows;
          embeddedBytes += step.embeddedBytes;
          const add = (): void => {
            meter.addRows(step.rows);
            meter.addItems(step);
          };
          if (rows > 1000 || bytes + embeddedBytes > 300_000_000 || bytes > expansion) {
            expect(thrownBy(add)).toMatchObject({ code: 'package_limit' });
            return;
          }
          add();
        }
      }),
    );
  });

  it('names the limit and the place', () => {
    const names = { maxTotalBytes: 'TOTAL', maxExpansionRatio: 'RATIO', maxRows: 'ROWS' };
    const small = new ImportMeter({ ...LIMITS, maxTotalBytes: 100 }, names);
    expect(thrownBy(() => small.addRows(1001, { file: 'a.csv', row: 1000 }))).toMatchObject({
      code: 'package_limit',
      message: 'The import must read at most 1000 rows (ROWS), exceeded at row 1000',
      location: { file: 'a.csv', row: 1000 },
    });
    expect(thrownBy(() => small.addItems({ bytes: 101 }))).toMatchObject({
      message: 'The import must make at most 100 bytes of items (TOTAL)',
    });
    const ratio = new ImportMeter(LIMITS, names);
    ratio.setFileBytes(5700);
    ratio.addItems({ bytes: FREE_EXPANSION_BYTES });
    expect(thrownBy(() => ratio.addItems({ bytes: 1 }, { row: 5 }))).toMatchObject({
      message:
        'The import must make at most 500 times the 5700 bytes of its files, past 67108864 bytes (RATIO), exceeded at row 5',
    });
  });
});
