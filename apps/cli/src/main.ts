#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { runProcess } from 'svc-pkg';
import { createDatabase } from './database/create-database.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
await runProcess(process, createDatabase(process.env, version));
