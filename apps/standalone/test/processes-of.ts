import { readdir, readFile, readlink } from 'node:fs/promises';

/** A process, as Linux tells of it. */
export interface FoundProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/** The processes that work in a folder or below it, name it in their arguments, or were given it as their data folder. Linux only. */
export async function processesOf(folder: string): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => '');
    const commandLine = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).replaceAll(
      '\0',
      ' ',
    );
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    const isTold = environment.split('\0').includes(`SVC_DATA_DIR=${folder}`);
    if (!isTold && !`${cwd}/`.startsWith(`${folder}/`) && !commandLine.includes(folder)) continue;
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    // a process that has ended and only waits to be asked for its exit code holds nothing
    if (status !== '' && !/^State:\s+[ZX]/m.test(status)) found.push({ pid: Number(name), commandLine });
  }
  return found;
}
