import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Agreement, type AgreementCells, agreementOf } from './agreement.ts';

/** What `conformance/runs/agreement.py` computes by other formulas. */
const VECTORS = JSON.parse(
  readFileSync(new URL('../../../../../conformance/runs/agreement.json', import.meta.url), 'utf8'),
) as Agreement[];

const rounded = (value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toFixed(9)) + 0 : value;
const near = (agreement: Agreement): unknown =>
  JSON.parse(JSON.stringify(agreement), (_, value) => rounded(value));

describe('agreementOf', () => {
  it.each(VECTORS.map((vector) => [JSON.stringify(vector.cells), vector] as const))(
    'is what another program computes of %s',
    (_, vector) => {
      expect(near(agreementOf(vector.cells))).toEqual(near(vector));
    },
  );

  it('has a null kappa only where both say one and the same of all outputs, and no interval beyond its scale', () => {
    const counts = [0, 1, 2, 50];
    for (const both_pass of counts) {
      for (const both_fail of counts) {
        for (const false_pass of counts) {
          for (const false_fail of counts) {
            const cells: AgreementCells = { both_pass, both_fail, false_pass, false_fail };
            const { n, kappa, kappa_ci95: interval } = agreementOf(cells);
            expect([cells, kappa === null]).toEqual([cells, both_pass === n || both_fail === n]);
            if (kappa === null || interval === null) continue;
            const [low, high] = interval;
            expect(-1 <= low && low <= kappa && kappa <= high && high <= 1, JSON.stringify(cells)).toBe(true);
          }
        }
      }
    }
  });
});
