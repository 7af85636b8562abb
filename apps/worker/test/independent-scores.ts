import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Body, TestService } from './start-test-service.ts';

const PROGRAM = fileURLToPath(new URL('../../../conformance/runs/scores.py', import.meta.url));

/** Whether {@link computeScores} can run here. */
export const hasPython: boolean = spawnSync('python3', ['--version']).status === 0;

/** The scores of results, computed by an independent program. It must not stop the service, which runs in this process. */
export async function computeScores(request: object): Promise<Body> {
  const running = promisify(execFile)('python3', [PROGRAM], { maxBuffer: Number.POSITIVE_INFINITY });
  running.child.stdin?.end(JSON.stringify(request));
  const { stdout, stderr } = await running;
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** Matches numbers but for their last digits, which depend on the order of additions. */
export function close(value: unknown, digits = 12): unknown {
  if (typeof value === 'number' && !Number.isInteger(value)) return expect.closeTo(value, digits);
  if (Array.isArray(value)) return value.map((member) => close(member, digits));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member, digits)]));
}

/** The results of a run, as its JSON Lines state them. */
export async function resultsOf(service: TestService, runId: string): Promise<Body[]> {
  const { body } = await service.get(`/runs/${runId}/results.jsonl`);
  return String(body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
