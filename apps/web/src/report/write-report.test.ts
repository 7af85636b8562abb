import { describe, expect, it } from 'vitest';
import { cutText, fitCases, type ReportCase } from './write-report.tsx';

const one = (kind: ReportCase['kind'], got: string): ReportCase => ({
  kind,
  id: 'a',
  texts: [cutText(got, 0)],
  numbers: [],
});

describe('fitCases', () => {
  it('shortens texts until all wrong results fit, and leaves out right ones', () => {
    const wrong = Array.from({ length: 100 }, () => one('wrong', 'x'.repeat(2_000)));
    const right = Array.from({ length: 100 }, () => one('right', 'y'));
    const all = [...wrong, ...right];
    expect(fitCases(all, 1_000_000)).toEqual({ cases: all, length: 20_000 });
    const fitted = fitCases(all, 80_000);
    expect(fitted.length).toBe(500);
    expect(fitted.cases.slice(0, 100)).toEqual(wrong);
    expect(fitted.cases.length).toBeLessThan(200);
  });

  it('counts the bytes of characters and of what HTML makes of them', () => {
    expect(fitCases([one('wrong', '<'.repeat(1_000))], 4_000).length).toBe(500);
    expect(fitCases([one('wrong', '京'.repeat(1_000))], 2_000).length).toBe(500);
  });
});
