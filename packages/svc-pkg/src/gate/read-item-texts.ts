import type { Run, RunResult } from '@svc/client';
import { runParams } from '../service/references.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { reportText, reportValue } from '../text/report-text.ts';
import type { Comparison } from './baseline.ts';
import type { ItemTexts } from './gate-report.ts';

type Difference = Comparison['data'][number];

/** Results of an item that are looked at. */
const MAX_RESULTS = 10;

/**
 * What an item asks, and what two runs answered: of several repetitions, the baseline's best answer and the run's worst.
 *
 * @throws as `ServiceClient.send`
 */
export async function readItemTexts(
  service: ServiceClient,
  { baseline, run }: { readonly baseline: Run; readonly run: Run },
  item: Difference,
): Promise<ItemTexts> {
  const one = { hash: item.item_hash, section: item.section, orderIndex: item.order_index };
  const other = { ...one, section: item.other_section, orderIndex: item.other_order_index };
  const [before, now] = await Promise.all([
    resultsOf(service, baseline, one),
    resultsOf(service, run, other),
  ]);
  const best = before.toSorted((a, b) => (b.score ?? -1) - (a.score ?? -1))[0];
  const worst = now.toSorted((a, b) => (a.score ?? 2) - (b.score ?? 2))[0];
  const content = (worst ?? best)?.item as Content | null | undefined;
  return {
    question: questionOf(content),
    expected: reportValue(content?.answer),
    baselineOutput: outputOf(best),
    output: outputOf(worst),
  };
}

interface Content {
  readonly inputs?: { readonly prompt?: unknown; readonly messages?: unknown } | null;
  readonly answer?: unknown;
}

interface Place {
  readonly hash: string;
  readonly section: string;
  readonly orderIndex: number;
}

async function resultsOf(
  service: ServiceClient,
  { id }: Run,
  { hash, section, orderIndex }: Place,
): Promise<RunResult[]> {
  const query = { item_hash: hash, section, include: 'item', limit: MAX_RESULTS } as const;
  const reply = service.api.GET('/runs/{id}/results', { params: { ...runParams(id), query } });
  return (await service.read(reply)).value.data.filter((result) => result.order_index === orderIndex);
}

function questionOf(content: Content | null | undefined): string | undefined {
  const { prompt, messages } = content?.inputs ?? {};
  if (prompt !== undefined) return reportValue(prompt);
  const last: unknown = Array.isArray(messages) ? messages.at(-1)?.content : undefined;
  return reportValue(last ?? content?.inputs);
}

function outputOf(result: RunResult | undefined): string | undefined {
  const { output, error } = result ?? {};
  if (error != null) return reportText(`error ${error.code}`);
  return reportValue(output);
}
