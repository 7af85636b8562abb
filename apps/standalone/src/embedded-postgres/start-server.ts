import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { freePort, SOCKET_PORT } from './connection.ts';
import { EmbeddedPostgresError, explain, type Layout } from './layout.ts';
import { readPostmasterFile, type ServerPlan, takeServer } from './ownership.ts';
import { type Account, pause, runToEnd } from './processes.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * Settings of the embedded server, which serves one service on one machine.
 * @see https://www.postgresql.org/docs/18/runtime-config.html
 */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '256MB',
  // an import writes gigabytes in one go: fewer checkpoints, fewer full pages in the log
  max_wal_size: '2GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // nothing replicates from it
  wal_level: 'minimal',
  max_wal_senders: '0',
  // compiling a plan takes longer than the statements of the service
  jit: 'off',
  // /dev/shm of a container is often 64 MB
  enable_parallel_hash: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // rows and statements contain prompts and answers, which the log must not show
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

export type StartedServer = Exclude<Awaited<ReturnType<typeof startServer>>, 'taken'>;

/** Starts the server. `taken`: another process was faster, or its server is about to end. */
export async function startServer(plan: ServerPlan) {
  const { layout, signal } = plan;
  const port = process.platform === 'win32' ? await freePort() : SOCKET_PORT;
  const endpoint = { port, socketFolder: process.platform === 'win32' ? null : plan.socketFolder.path };
  const log = await openLog(layout, plan.account);
  const logStart = (await log.stat()).size;
  const child = spawnServer(plan, port, log);
  let hasEnded = false;
  const ended = new Promise<void>((done) => {
    child.once('error', () => done());
    child.once('exit', () => done());
  }).then(() => {
    hasEnded = true;
  });
  await log.close();

  try {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!hasEnded && !(await isReady(layout, child))) {
      signal.throwIfAborted();
      if (performance.now() > deadline) {
        throw new EmbeddedPostgresError(
          `Timed out starting the database in ${layout.folder} after ${START_TIMEOUT_MS / 1000} s.`,
        );
      }
      await Promise.race([pause(15, signal), ended]);
    }
    const owner = hasEnded ? null : await takeServer(plan, endpoint);
    signal.throwIfAborted();
    if (owner !== null) return { child, ended, owner, endpoint };
    // another process claimed the server first and stops it, or the server has ended
    await endOf(ended, STOP_TIMEOUT_MS, signal);
    await stopServer(child, ended, plan);
    plan.guard.clear();
  } catch (cause) {
    await endOf(ended, 200, signal);
    const isDead = hasEnded;
    await stopServer(child, ended, plan);
    signal.throwIfAborted();
    if (!isDead) throw cause;
    throw new EmbeddedPostgresError(explain(await readLogFrom(layout, logStart), layout), cause);
  }
  const output = await readLogFrom(layout, logStart);
  if (child.exitCode === 0 || IS_TAKEN.test(output)) return 'taken';
  throw new EmbeddedPostgresError(explain(output, layout), new Error(output));
}

/** Output of a server whose folder, socket, memory or port another one uses. */
const IS_TAKEN = /(?:postmaster\.pid|\.lock)" already exists|could not bind|pre-existing shared memory block/;

/** Whether this server accepts connections. It reports so in its folder, where no other program can write. */
async function isReady(layout: Layout, child: ChildProcess): Promise<boolean> {
  const file = await readPostmasterFile(layout);
  return file?.isReady === true && file.pid === child.pid;
}

function spawnServer(plan: ServerPlan, port: number, log: FileHandle): ChildProcess {
  const { layout, binaries, socketFolder } = plan;
  const data = plan.nameOf(layout.data);
  // The list quotes names with blanks and commas. A working directory without a path is named by its parent.
  const folder =
    data === layout.data || socketFolder.isTemporary ? `"${socketFolder.path.replaceAll('"', '""')}"` : '..';
  const listening =
    process.platform === 'win32'
      ? { listen_addresses: '127.0.0.1', unix_socket_directories: '' }
      : { listen_addresses: '', unix_socket_directories: folder, unix_socket_permissions: '0700' };
  const settings = Object.entries({ ...listening, ...SERVER_SETTINGS, ...plan.settings });
  return plan.guard.spawn(
    binaries.postgres,
    ['-D', data, '-p', String(port), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: layout.data, stdio: [log.fd, log.fd] },
    'INT',
  );
}

/** Stops the server by a fast shutdown: sessions end, transactions are rolled back, a checkpoint is written. */
export async function stopServer(child: ChildProcess, ended: Promise<void>, plan: ServerPlan): Promise<void> {
  const { layout, binaries } = plan;
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  if (process.platform === 'win32') {
    // Node's SIGINT would kill the process immediately
    await runToEnd(binaries.pg_ctl, ['stop', '-D', layout.data, '-m', 'fast', '-w'], layout.data);
  } else {
    child.kill('SIGINT');
  }
  await endOf(ended, STOP_TIMEOUT_MS);
  child.kill('SIGKILL');
  await ended;
}

/** Waits for the end of the server, for a time at most, and keeps no timer. */
async function endOf(ended: Promise<void>, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  const done = new AbortController();
  const either = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  await Promise.race([ended, pause(timeoutMs, either)]);
  done.abort();
}

async function openLog(layout: Layout, account: Account | null): Promise<FileHandle> {
  const size = (await stat(layout.log).catch(() => null))?.size ?? 0;
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants;
  // Root must not follow a link that the account of the server has made. Windows has no such flag.
  const flags = O_WRONLY | O_CREAT | O_APPEND | (constants.O_NOFOLLOW ?? 0);
  try {
    const log = await open(layout.log, size > MAX_LOG_BYTES ? flags | O_TRUNC : flags, 0o600);
    const found = await log.stat();
    if (!found.isFile() || found.nlink !== 1) {
      await log.close();
      throw new EmbeddedPostgresError(`${layout.log} is not a regular file: remove it.`);
    }
    if (account !== null) await log.chown(account.uid, account.gid);
    return log;
  } catch (cause) {
    throw cause instanceof EmbeddedPostgresError
      ? cause
      : new EmbeddedPostgresError(explain(String(cause), layout), cause);
  }
}

/** What the server has written since its log had `start` bytes; empty when the log cannot be read. */
async function readLogFrom(layout: Layout, start: number): Promise<string> {
  const bytes = await readFile(layout.log).catch(() => Buffer.alloc(0));
  return bytes.subarray(start).toString('utf8');
}
