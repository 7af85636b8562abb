import { describe, expect, it } from 'vitest';
import { fitRows } from './fit-rows.ts';
import type { ReportRow } from './report-rows.ts';

const row = (kind: ReportRow['kind'], got: string): ReportRow => ({
  kind,
  id: 'a',
  question: '',
  expected: '',
  got,
  why: '',
  score: 0,
  latencyMs: null,
});

describe('fitRows', () => {
  it('shortens texts until all wrong results fit, and leaves out right ones', () => {
    const wrong = Array.from({ length: 100 }, () => row('wrong', 'x'.repeat(2_000)));
    const right = Array.from({ length: 100 }, () => row('right', 'y'));
    expect(fitRows([...wrong, ...right], 1_000_000)).toEqual({ rows: [...wrong, ...right], length: 2_000 });
    const fitted = fitRows([...wrong, ...right], 80_000);
    expect(fitted.length).toBe(500);
    expect(fitted.rows.slice(0, 100)).toEqual(wrong);
    expect(fitted.rows.length).toBeLessThan(200);
  });

  it('counts the bytes of characters and of what HTML makes of them', () => {
    expect(fitRows([row('wrong', '<'.repeat(1_000))], 4_000).length).toBe(500);
    expect(fitRows([row('wrong', '京'.repeat(1_000))], 2_000).length).toBe(500);
  });
});
