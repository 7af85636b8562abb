import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** Another process may hold the pipe for longer. */
const READ_MS = 5_000;

/**
 * The end of a process: its exit code, once its last lines are read, which may come after its exit. Rejects when it
 * cannot be started.
 *
 * @param lines of its standard output
 */
export async function endOfProcess(child: ChildProcess, lines: Interface): Promise<number | null> {
  const read = once(lines, 'close');
  const [code] = (await once(child, 'exit')) as [number | null];
  await Promise.race([read, delay(READ_MS, undefined, { ref: false })]);
  return code;
}
