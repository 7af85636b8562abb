#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import type { CliContext } from './cli-context.ts';
import { createDatabase } from './database/create-database.ts';
import { CliError } from './errors/cli-error.ts';
import { EXIT } from './errors/exit-codes.ts';
import { runCli } from './program.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const stopped = new AbortController();
const stopOn = (signal: 'SIGINT' | 'SIGTERM', reason: CliError, exitCode: number): void => {
  process.on(signal, () => {
    // A second signal stops at once.
    if (stopped.signal.aborted) process.exit(exitCode);
    stopped.abort(reason);
  });
};
stopOn('SIGINT', new CliError('interrupted', 'Interrupted'), EXIT.interrupted);
stopOn('SIGTERM', new CliError('terminated', 'Terminated'), EXIT.terminated);

// The writer also receives the error; without a listener it would end the process.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const dispatcher = new Agent({ connect: { timeout: 10_000 } });
const context: CliContext = {
  stdout: process.stdout,
  stderr: process.stderr,
  isTerminal: process.stderr.isTTY === true,
  columns: Math.min(process.stdout.columns ?? 100, 120),
  env: process.env,
  signal: stopped.signal,
  dispatcher,
  database: createDatabase(process.env),
  version,
};
process.exitCode = await runCli(process.argv.slice(2), context);
// Idle connections would keep the process alive for some seconds.
await dispatcher.destroy();
