import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { printHint } from '../../output/print-hint.ts';
import { printResult } from '../../output/print-result.ts';
import { showProgress } from '../../output/progress.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { printableValue } from '../../text/printable-text.ts';
import type { JsonResponse, ServiceClient } from '../client/service-client.ts';

/** The members of a Run (HTTP API) that are read. */
export interface RunResponse {
  readonly id: string;
  readonly dataset_id: string;
  readonly name: string | null;
  readonly status: string;
  readonly counts: {
    readonly total: number;
    readonly done: number;
    readonly ok: number;
    readonly failed: number;
    readonly unscored: number;
  };
  readonly scores: {
    readonly mean: number | null;
    readonly passed: number;
    readonly pass_rate: number | null;
  };
  readonly error: { readonly code?: string; readonly message?: string } | null;
  readonly created_at: string;
}

const POLL_INTERVAL_MS = 1000;

export const runPath = (id: string): string => `/runs/${encodeURIComponent(id)}`;

/**
 * Waits until a run has ended; shows its progress on a terminal. The run goes on if this is interrupted.
 *
 * @throws as `ServiceClient.send`; the signal's reason
 */
export async function followRun(
  cli: Cli,
  service: ServiceClient,
  first: JsonResponse<RunResponse>,
): Promise<JsonResponse<RunResponse>> {
  using progress = showProgress(cli, 'running', 'items');
  for (let response = first; ; ) {
    const { status, counts } = response.value;
    progress.update(counts.done, counts.total);
    if (!['queued', 'running', 'cancelling'].includes(status)) return response;
    await sleep(POLL_INTERVAL_MS, undefined, { signal: cli.signal });
    response = await service.sendForJson<RunResponse>({ method: 'GET', path: runPath(first.value.id) });
  }
}

/**
 * Prints a run: for machines the response as it is, for people the main facts.
 *
 * @throws CliError `run_failed` after printing a run that failed or was cancelled
 */
export async function printRun(cli: Cli, response: JsonResponse<RunResponse>): Promise<void> {
  const run = response.value;
  await printResult(cli, { text: () => runText(run), json: () => response.text });
  if (run.status === 'failed' || run.status === 'cancelled') {
    const why = run.error?.message === undefined ? '' : `: ${run.error.message}`;
    throw new CliError('run_failed', `Run ${run.id} has the status ${run.status}${why}`);
  }
  if (run.status === 'completed') await printHint(cli, `Its results: svc-pkg results ${run.id}`);
}

function runText(run: RunResponse): string {
  const { counts, scores } = run;
  return formatFacts([
    ['run', run.id],
    ['name', run.name && printableValue(run.name)],
    ['dataset', run.dataset_id],
    ['status', run.status],
    ['done', `${counts.done} of ${counts.total}`],
    ['failed', counts.failed],
    ['unscored', counts.unscored],
    ['mean score', rounded(scores.mean)],
    ['passed', scores.pass_rate === null ? null : `${scores.passed} (${rounded(scores.pass_rate * 100)} %)`],
  ]);
}

/** Four significant digits are enough for people. */
export function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toPrecision(4));
}
