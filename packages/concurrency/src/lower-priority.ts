import { constants, setPriority } from 'node:os';

/**
 * Lets other threads go first; call it on a worker thread. On Linux each thread has its own priority, so that the main
 * thread, which serves requests, is not slowed down. Elsewhere the priority is that of the process, and stays as it is.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
}
