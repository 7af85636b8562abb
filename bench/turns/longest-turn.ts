const OBJECTS = JSON.stringify(
  Array.from({ length: 100_000 }, (_, n) => ({ type: 'file', path: `d/${n}.csv` })),
);

/**
 * The longest turn of the event loop during some work: its CPU time, divided by that of parsing 100,000 small objects in
 * one turn. So it is about the same on slow machines, and collections of garbage are a part of both.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const parsing = [1, 2, 3].map(() => {
    const begun = process.threadCpuUsage();
    JSON.parse(OBJECTS);
    return cpuMs(begun);
  });
  const unitMs = parsing.sort((a, b) => a - b)[1] as number;
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const look = (): void => {
    longestMs = Math.max(longestMs, cpuMs(before));
    before = process.threadCpuUsage();
    turn = setImmediate(look);
  };
  let turn = setImmediate(look);
  try {
    await work();
  } finally {
    clearImmediate(turn);
  }
  return longestMs / unitMs;
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1000;
}
