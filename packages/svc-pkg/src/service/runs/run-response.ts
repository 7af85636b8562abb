import { followRun as changesOf, type Run } from '@svc/client';
import type { Cli } from '../../cli-context.ts';
import { printReport } from '../../output/print-result.ts';
import { showProgress } from '../../output/progress.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { printableValue } from '../../text/printable-text.ts';
import type { ServiceClient } from '../client/service-client.ts';
import type { JsonResponse } from '../client/service-request.ts';

/** A run, as the service describes it. */
export type RunResponse = Run;

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
  const { id } = first.value;
  for await (const { counts } of changesOf(service.api, id, { signal: cli.signal })) {
    progress.update(counts.done, counts.total);
  }
  // Its text once more, with every digit.
  return await service.sendForJson<RunResponse>({ method: 'GET', path: runPath(id) });
}

/** Prints a run, whatever its status: for machines the response as it is, for people the main facts. */
export function printRunFacts(cli: Cli, response: JsonResponse<RunResponse>): Promise<void> {
  return printReport(cli, { text: () => runText(response.value), json: () => response.text });
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
