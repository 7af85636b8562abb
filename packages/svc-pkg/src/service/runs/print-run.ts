import { iteratePages, type PageQuery, type Run } from '@svc/client';
import type { Cli } from '../../cli-context.ts';
import { CliError, type CliErrorDetail } from '../../errors/cli-error.ts';
import { printHint } from '../../output/print-result.ts';
import type { ServiceClient } from '../client/service-client.ts';
import type { JsonResponse } from '../client/service-request.ts';
import { printRunFacts, rounded, runParams, trackRun } from './run-response.ts';

/** With which outcome of a run a command succeeds. */
export interface RunLimits {
  readonly maxFailed: number;
  readonly minScore?: number;
}

/** How a command ends a run that it has started. */
export interface FinishOptions extends RunLimits {
  readonly wait: boolean;
}

/**
 * Waits until a run has ended, if the options do not say otherwise, then prints it, for machines the response as it is, for people the main facts, and checks its outcome.
 *
 * @throws CliError `run_failed` after printing a run that failed or was cancelled, `run_stopped`; as `checkRun`
 */
export async function finishRun(
  cli: Cli,
  service: ServiceClient,
  started: JsonResponse<Run>,
  { wait, ...limits }: FinishOptions,
): Promise<void> {
  const response = wait ? await trackRun(cli, service, started) : started;
  const run = response.value;
  await printRunFacts(cli, response);
  checkCompleted(run);
  if (run.status !== 'completed') return;
  await checkRun(service, run, limits);
  await printHint(cli, `Its results: svc-pkg results ${run.id}`);
}

/** @throws CliError `run_failed` for a run that failed or was cancelled, `run_stopped` */
export function checkCompleted(run: Run): void {
  if (run.status === 'failed' || run.status === 'cancelled') {
    const why = run.error?.message === undefined ? '' : `: ${run.error.message}`;
    throw new CliError('run_failed', `Run ${run.id} has the status ${run.status}${why}`);
  }
  if (run.status === 'stopped') {
    const { done, total } = run.counts;
    throw new CliError(
      'run_stopped',
      `The budget of run ${run.id} stopped it after ${done} of ${total} results`,
      {
        hint: `To continue with a new limit: svc-pkg retry ${run.id} --only missing --max-cost <amount>`,
      },
    );
  }
}

/**
 * Checks the outcome of a run that has completed.
 *
 * @throws CliError `items_failed` with the errors of the items and how often each occurred, `score_too_low`
 */
export async function checkRun(
  service: ServiceClient,
  { id, counts, scores }: Run,
  { maxFailed, minScore }: RunLimits,
): Promise<void> {
  const { failed, total } = counts;
  // Without any answer there is nothing to tolerate.
  if (failed > maxFailed || (failed > 0 && failed === total)) {
    throw new CliError('items_failed', `${failed} of ${total} items failed`, {
      errors: await errorsOf(service, id),
      hint: `Its results: svc-pkg results ${id}. To run the failed items again: svc-pkg retry ${id}`,
    });
  }
  if (minScore === undefined || (scores.mean !== null && scores.mean >= minScore)) return;
  const mean = scores.mean === null ? 'The run has no score' : `The mean score is ${rounded(scores.mean)}`;
  throw new CliError('score_too_low', `${mean}, and --min-score is ${minScore}`, {
    hint: `Its results: svc-pkg results ${id}`,
  });
}

/** Looks at this many failed results. */
const MAX_RESULTS = 1000;
/** Lists this many errors. */
const MAX_ERRORS = 10;

/** The errors of a run's items in the order in which each occurs first, with how often it occurs. */
async function errorsOf(service: ServiceClient, id: string): Promise<CliErrorDetail[]> {
  const counts = new Map<string, { readonly code: string; readonly message: string; count: number }>();
  const read = (page: PageQuery) =>
    service.api.GET('/runs/{id}/results', {
      params: { ...runParams(id), query: { status: 'failed', ...page } },
    });
  for await (const { data } of iteratePages(read, MAX_RESULTS)) {
    for (const { error } of data) {
      const { code = 'unknown', message = 'The item failed' } = error ?? {};
      const key = `${code} ${message}`;
      const entry = counts.get(key) ?? { code, message, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    }
  }
  return [...counts.values()].slice(0, MAX_ERRORS);
}
