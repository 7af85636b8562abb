#!/usr/bin/env node
import { runProcess } from 'svc-pkg';
import { createDatabase } from './database/create-database.ts';

await runProcess(process, createDatabase(process.env));
