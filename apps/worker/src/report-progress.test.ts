import type { JobProgress } from '@svc/service/store';
import { expect, it } from 'vitest';
import { reportProgress } from './tasks/job.ts';

const claim = { id: 'j', attempt: 1 };
const rows = (rowsDone: number): JobProgress => ({
  rowsDone,
  rowsTotal: null,
  bytesDone: 0,
  bytesTotal: null,
});

it('writes the first update immediately, the last one at the end, and few between', async () => {
  const written: number[] = [];
  const report = reportProgress(
    { report: async (_claim, { rowsDone }) => void written.push(rowsDone) },
    claim,
    () => expect.unreachable(),
  );
  for (let done = 1; done <= 1000; done++) {
    report.update(rows(done));
    if (done % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await report.flush();
  expect(written.at(0)).toBe(1);
  expect(written.at(-1)).toBe(1000);
  expect(written.length).toBeLessThan(10);
  expect(written).toEqual(written.toSorted((a, b) => a - b));
});

it('reports a failed write and continues', async () => {
  const errors: unknown[] = [];
  const report = reportProgress(
    { report: () => Promise.reject(new Error('unavailable')) },
    claim,
    (error) => void errors.push(error),
  );
  report.update(rows(1));
  await report.flush();
  report.update(rows(2));
  await report.flush();
  expect(errors).toHaveLength(2);
});
