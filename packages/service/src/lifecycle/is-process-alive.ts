/**
 * Whether there is a process of this id on this machine.
 *
 * @param kill `process.kill`; signal 0 only asks
 */
export function isProcessAlive(kill: (pid: number, signal: 0) => boolean, pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
