import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Endpoint, socketIn } from '../connection/endpoint.ts';
import type { Layout } from '../layout.ts';
import { runToEnd } from '../process/spawn-as.ts';

/** The content of `postmaster.pid`. */
export interface PostmasterFile {
  readonly pid: number;
  /** Null when the file does not name it. */
  readonly endpoint: Endpoint | null;
  readonly isReady: boolean;
}

/** A server that uses the folder. */
export interface RunningServer {
  readonly pid: number;
  readonly endpoint: Endpoint;
}

const fileOf = (layout: Layout): string => join(layout.data, 'postmaster.pid');

/**
 * Reads `postmaster.pid`; null when it does not exist or is damaged, as after a power failure.
 *
 * @see https://github.com/postgres/postgres/blob/REL_18_STABLE/src/include/utils/pidfile.h
 */
export async function readPostmasterFile(layout: Layout): Promise<PostmasterFile | null> {
  const lines = (await readFile(fileOf(layout), 'utf8').catch(() => '')).split('\n');
  const [first = '', , , port = '', socketFolder = '', , , status = ''] = lines;
  // a server without a postmaster (single-user mode) writes its process id with a minus
  if (!/^-?[1-9]\d{0,9}$/.test(first)) return null;
  return {
    pid: Math.abs(Number(first)),
    endpoint: /^[1-9]\d{0,4}$/.test(port)
      ? { port: Number(port), socketFolder: folderIn(layout, socketFolder) }
      : null,
    isReady: status.trim() === 'ready',
  };
}

function folderIn(layout: Layout, socketFolder: string): string | null {
  if (socketFolder === '') return null; // Windows, and older versions
  return socketFolder.startsWith('/') ? socketFolder : layout.folder;
}

/**
 * Finds the server that uses the folder. If there is none, removes the files of a dead server: PostgreSQL does not start
 * if the file is empty, damaged, or contains the process id of another program.
 */
export async function findRunningServer(layout: Layout): Promise<RunningServer | null> {
  const leftovers = [fileOf(layout), socketIn(layout.folder), `${socketIn(layout.folder)}.lock`];
  const before = await Promise.all(leftovers.map(identityOf));
  if (before.every((identity) => identity === null)) return null;

  const file = await readPostmasterFile(layout);
  const pid = await serverPid(layout, file);
  if (pid !== null) {
    const endpoint = file?.pid === pid ? file.endpoint : null;
    return { pid, endpoint: endpoint ?? { socketFolder: layout.folder, port: 5432 } };
  }
  for (const [index, path] of leftovers.entries()) {
    // not the file of a server that has started since
    if ((await identityOf(path)) === before[index]) await rm(path, { force: true });
  }
  return null;
}

async function identityOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.dev} ${found.ino} ${found.mtimeNs}`;
}

async function serverPid(layout: Layout, file: PostmasterFile | null): Promise<number | null> {
  if (process.platform === 'linux') return await serverByFolder(layout);
  if (process.platform !== 'win32') return await serverByArguments(layout);
  return file !== null && isAlive(file.pid) ? file.pid : null;
}

/** A server and its processes use the data folder as working directory: the server is the one whose parent does not. */
async function serverByFolder(layout: Layout): Promise<number | null> {
  const own = await stat(layout.data, { bigint: true }).catch(() => null);
  if (own === null) return null;
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/comm`, 'utf8').catch(() => '');
    if (command.trim() !== 'postgres') continue;
    // other users' processes are hidden, and the server never belongs to another user
    const folder = await stat(`/proc/${name}/cwd`, { bigint: true }).catch(() => null);
    if (folder?.ino !== own.ino || folder.dev !== own.dev) continue;
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]));
  }
  for (const [pid, parent] of parents) if (!parents.has(parent)) return pid;
  return null;
}

async function serverByArguments(layout: Layout): Promise<number | null> {
  const { output } = await runToEnd('ps', ['-axww', '-o', 'pid=,command=']);
  for (const line of output.split('\n')) {
    const [, pid, command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (/^\S*postgres /.test(command) && command.includes(`-D ${layout.data} `)) return Number(pid);
  }
  return null;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
