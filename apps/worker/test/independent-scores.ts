import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Body, TestService } from './start-test-service.ts';

const PROGRAM = fileURLToPath(new URL('../../../conformance/runs/scores.py', import.meta.url));

/** Whether {@link computeScores} can run here. */
export const hasPython: boolean = spawnSync('python3', ['--version']).status === 0;

/** The scores of results, computed by an independent program. */
export function computeScores(request: object): Body {
  const input = JSON.stringify(request);
  const { stdout, stderr, status } = spawnSync('python3', [PROGRAM], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
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
