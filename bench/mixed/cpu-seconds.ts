import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of the system's clock in a second, which is 100 on every Linux. */
const TICKS_PER_SECOND = 100;

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** With those of its children that have ended. */
  readonly seconds: number;
}

/** CPU time of a process and its children, so far; of the children alone whose title matches, with a pattern. */
export function cpuSeconds(pid: number, title?: RegExp): number {
  const family = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times !== null)
    .filter((times) => (times.pid === pid && title === undefined) || times.parent === pid);
  return family
    .filter((times) => title === undefined || title.test(titleOf(times.pid)))
    .reduce((sum, { seconds }) => sum + seconds, 0);
}

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function timesOf(pid: number): ProcessTimes | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return null;
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
