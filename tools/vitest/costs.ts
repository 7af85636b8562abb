import { readFileSync } from 'node:fs';

/** What takes most of the time of tests. */
type Made = 'processes' | 'APIs' | 'databases' | 'pages';

/** What a test file cost: CPU of its process and of the programs that have ended in it, and what it made. */
export interface Costs {
  readonly cpuSeconds: number;
  readonly made: Readonly<Record<Made, number>>;
}

const made: Record<Made, number> = { processes: 0, APIs: 0, databases: 0, pages: 0 };

/** Counts a started process of the service, an API in the process of the test, a database, or a context of the browser. */
export function counted(kind: Made): void {
  made[kind] += 1;
}

/** The costs of this process so far. */
export function costsSoFar(): Costs {
  return { cpuSeconds: cpuSecondsOf('self'), made: { ...made } };
}

/** CPU of a process, and of its children that have ended; 0 where the system does not tell. */
export function cpuSecondsOf(pid: string): number {
  // user and system time, of the process and of its children, in hundredths of a second
  return statOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
}

/** What Linux says of a process after its name, beginning with its state and its parent. */
export function statOf(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
