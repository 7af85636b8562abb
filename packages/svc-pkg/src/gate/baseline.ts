import type { ResponseOf, Run } from '@svc/client';
import { given } from '../cli-context.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { readRun, repetitionsOf } from '../service/follow-run.ts';
import { isDatasetId, runParams } from '../service/references.ts';
import { listPages, type ServiceClient } from '../service/service-client.ts';
import type { sightOf } from './sight.ts';

export interface Baseline {
  readonly run: Run;
  readonly label: string | undefined;
}

/** A run by its id, or the newest completed run of a dataset with a label, but not the run of the gate itself. */
export async function findBaseline(
  service: ServiceClient,
  reference: string,
  datasetId: string,
  exceptRunId?: string,
): Promise<Baseline> {
  if (reference.trim() === '') throw usageError('--baseline must be the id of a run, or a label');
  const isId = isDatasetId(reference);
  if (isId && reference.toLowerCase() === exceptRunId?.toLowerCase()) {
    throw usageError('--baseline and --run must be two runs');
  }
  const id = isId ? reference : await newestWith(service, reference, datasetId, exceptRunId);
  const { value: run } = await readRun(service, id);
  if (run.status !== 'completed') {
    throw new CliError('baseline_unusable', `The baseline ${id} has the status ${run.status}, not completed`);
  }
  if (run.scores.mean === null) throw new CliError('baseline_unusable', `The baseline ${id} has no scores`);
  return { run, label: isId ? undefined : reference };
}

async function newestWith(
  service: ServiceClient,
  reference: string,
  datasetId: string,
  exceptRunId: string | undefined,
): Promise<string> {
  const query = { dataset_id: datasetId, label: reference, status: 'completed', limit: 2 } as const;
  const reply = service.api.GET('/runs', { params: { query: { ...query, sort: '-created_at' } } });
  const labelled = (await service.read(reply)).value.data;
  const found = labelled.find(({ id }) => id !== exceptRunId);
  if (found !== undefined) return found.id;
  const other = labelled.length > 0 ? `other than --run ${exceptRunId} ` : '';
  throw new CliError(
    'baseline_not_found',
    `No completed run of the dataset ${other}has the label ${JSON.stringify(reference)}`,
    { hint: 'To label one: svc-pkg rename --run <id> --label <label>' },
  );
}

export type Comparison = ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>;

export interface ComparisonQuery {
  /** Name of a scorer; the main ones without it. */
  readonly scorer?: string | undefined;
  /** JSON Pointer, or `none`; without it, the clustering of both runs. */
  readonly clusterBy?: string | undefined;
}

/** @param maxItems largest number of items that got worse, in item order */
export async function readComparison(
  service: ServiceClient,
  { id, otherId }: { readonly id: string; readonly otherId: string },
  { scorer, clusterBy }: ComparisonQuery,
  maxItems = 1,
): Promise<Comparison> {
  const path = { ...runParams(id).path, other_id: runParams(otherId).path.id };
  const query = { only: 'regressions', ...given({ scorer, cluster_by: clusterBy }) } as const;
  return await listPages(maxItems, (page) =>
    service.api.GET('/runs/{id}/compare/{other_id}', { params: { path, query: { ...query, ...page } } }),
  );
}

const ASSUMED_CORRELATION = 0.5;

const NORMAL_975 = 1.959964;

/** The name of a gate's run says what it is compared with, so that the next gate finds it. */
export const gateName = (baseline: Run): string => `gate against ${baseline.id}`;

/**
 * How the scores of a baseline's items spread: the variance from its standard error, the correlation from its last
 * comparison by a gate. If all of them pass, or none, p is Wilson's bound, and the variance p(1 - p). Null if all
 * scores are another equal number, or there are fewer than two. The result says where variance and correlation come from.
 */
export async function readSpread(
  service: ServiceClient,
  baseline: Run,
  query: ComparisonQuery,
): Promise<Parameters<typeof sightOf>[0] | null> {
  const { stderr, ci95, ok } = scoresOf(baseline, query.scorer);
  const items = ok / repetitionsOf(baseline);
  if (stderr === null) return null;
  const variance_assumed = stderr === 0;
  // Wilson's bound of G of G is p = G / (G + z²): there, sqrt(p(1 - p) / G) is (1 - p) / z.
  const [low = 0, high = 0] = ci95 ?? [];
  const error = variance_assumed ? (high - low) / NORMAL_975 : stderr;
  if (error === 0) return null;
  const variance = error ** 2 * items;
  const assumed = { variance, variance_assumed, correlation: ASSUMED_CORRELATION, measured_with: null };
  const last = await lastGate(service, baseline);
  if (last === undefined) return assumed;
  const found = await readComparison(service, { id: baseline.id, otherId: last.id }, query).catch(absent);
  // Runs without a difference do not say how much runs differ.
  if (found === null || !found.stderr) return assumed;
  const correlation = 1 - (found.stderr ** 2 * found.paired) / (2 * variance);
  return { variance, variance_assumed, correlation: Math.max(-1, correlation), measured_with: last.id };
}

/** An older run may lack the scorer, or be gone by now. */
function absent(error: unknown): null {
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'scorer_not_found' || error.code === 'run_not_found') return null;
  }
  throw error;
}

/** @throws CliError `usage` for a scorer that the run does not have */
function scoresOf(run: Run, scorer: string | undefined): Pick<Run['scores'], 'stderr' | 'ci95' | 'ok'> {
  if (scorer === undefined) return run.scores;
  const found = Object.hasOwn(run.scorers, scorer) ? run.scorers[scorer] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(run.scorers).join(', ') || 'main';
  throw usageError(`Run ${run.id} has no scorer ${JSON.stringify(scorer)}; it has ${names}`);
}

async function lastGate(service: ServiceClient, baseline: Run): Promise<Run | undefined> {
  const query = { dataset_id: baseline.dataset_id, name: gateName(baseline), status: 'completed' } as const;
  const reply = service.api.GET('/runs', {
    params: { query: { ...given(query), limit: 1, sort: '-created_at' } },
  });
  return (await service.read(reply)).value.data[0];
}
