#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { runProcess } from 'svc-pkg';
import { createDatabase } from './database/create-database.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const problems = await takeSecretFiles();
if (problems.length === 0) await runProcess(process, createDatabase(process.env, version));
else {
  process.stderr.write(problems.map((problem) => `svc-admin: ${problem}\n`).join(''));
  process.exitCode = 2;
}

/** Secrets may be in files, as for the service, whose code is loaded only then. */
async function takeSecretFiles(): Promise<readonly string[]> {
  if (!Object.keys(process.env).some((name) => name.endsWith('_FILE'))) return [];
  const { isSecretVariable, readSecretFiles } = await import('@svc/service');
  const { env, problems: found } = readSecretFiles(process.env, isSecretVariable);
  Object.assign(process.env, env);
  return found;
}
