import { expect, it } from 'vitest';
import { MinuteHistory, WorkerBoard, type WorkerReport } from './worker-board.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2030, 0, 1);

const reportOf = (id: string, history: MinuteHistory, nowMs: number): WorkerReport => ({
  id,
  version: '1.0.0',
  startedAtMs: START_MS,
  concurrency: { runs: 16, jobs: 2 },
  running: { runs: 1, jobs: 0 },
  provider: history.read(nowMs),
});

it('adds up the minutes of workers, also of ended ones, and forgets what is older than six hours', () => {
  const board = new WorkerBoard();
  const [one, two] = [new MinuteHistory(), new MinuteHistory()];
  one.add(false, START_MS);
  one.add(true, START_MS + 59_000);
  two.add(false, START_MS + 59_999);
  two.add(false, START_MS + 120_000);
  board.take(reportOf('one', one, START_MS + 60_000), START_MS + 60_000);
  board.take(reportOf('two', two, START_MS + 120_000), START_MS + 120_000);
  // a report replaces the last one of its worker: nothing counts twice
  board.take(reportOf('two', two, START_MS + 125_000), START_MS + 125_000);
  const minute = START_MS / 60_000;
  expect(board.providerMinutes(START_MS + 125_000)).toEqual([
    { minute, requests: 3, errors: 1 },
    { minute: minute + 2, requests: 1, errors: 0 },
  ]);
  expect(board.workers(START_MS + 125_000).map(({ id }) => id)).toEqual(['two']);
  expect(board.providerMinutes(START_MS + 6 * HOUR_MS)).toEqual([
    { minute: minute + 2, requests: 1, errors: 0 },
  ]);
  two.add(true, START_MS + 7 * HOUR_MS);
  board.take(reportOf('two', two, START_MS + 7 * HOUR_MS), START_MS + 7 * HOUR_MS);
  expect(board.providerMinutes(START_MS + 7 * HOUR_MS)).toEqual([
    { minute: minute + 420, requests: 1, errors: 1 },
  ]);
});

it('makes reports that fit into a notification, and keeps few workers', () => {
  const history = new MinuteHistory();
  for (let minute = 0; minute < 500; minute += 1)
    for (let at = 0; at < 3; at += 1) history.add(true, START_MS + minute * 60_000);
  const counts = history.read(START_MS + 499 * 60_000);
  expect(counts.requests).toHaveLength(360);
  const most = { ...counts, requests: counts.requests.map(() => 999_999) };
  const report = {
    ...reportOf('a'.repeat(36), history, START_MS),
    provider: { ...most, errors: most.requests },
  };
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(7_900);
  const board = new WorkerBoard();
  for (let at = 0; at < 1_000; at += 1) board.take(reportOf(`w${at}`, history, START_MS), START_MS + at);
  expect(board.workers(START_MS + 1_000)).toHaveLength(200);
});
