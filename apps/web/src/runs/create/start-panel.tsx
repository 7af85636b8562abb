import { Alert, Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import {
  keepPreviousData,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { send } from '../../api/api.ts';
import { ErrorView } from '../../ui/query-state.tsx';
import { Dimmed, Refusal } from '../../ui/text/dimmed.ts';
import { formatCost, formatCount, formatCountOf, formatDuration, present } from '../../ui/text/formats.ts';
import { askedBy, nameOf, type Run, runsQuery } from '../queries.ts';
import { TRIAL_ITEMS } from './playground.tsx';
import { MAX_RUNS, type NewRunBody } from './run-form.ts';

/** Runs of the dataset, the newest, that may say how long this one takes. */
const KNOWN_RUNS = 100;

export function StartPanel(props: {
  /** The first run after typing has paused; null while it is incomplete. */
  readonly request: NewRunBody | null;
  /** All runs, as the form is now. */
  readonly requests: readonly NewRunBody[] | null;
  readonly failure: Error | null;
  /** Where the form says so; null if it does not. */
  readonly marked: string | null;
  readonly start: ReturnType<typeof useStart>;
  readonly onTry: () => void;
  readonly isTrying: boolean;
}) {
  const { request, requests, failure, marked, start, onTry, isTrying } = props;
  const plan = usePlan(request);
  const dataset_id = request?.dataset_id ?? '';
  const known = useQuery({ ...runsQuery({ dataset_id, limit: KNOWN_RUNS }), enabled: request !== null }).data;
  const measured = useMemo(
    () => (request === null ? null : measuredOf(known?.data ?? [], request)),
    [known, request],
  );
  const runs = requests?.length ?? 1;
  const items = failure === null && !plan.isPlaceholderData ? plan.data?.plan.items : undefined;
  return (
    <Stack className="stays-in-view" gap="xs">
      <Group gap="sm">
        <Button
          disabled={requests === null || failure !== null || runs > MAX_RUNS}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          Run on all{items === undefined ? '' : ` ${formatCount(items)}`}
          {runs === 1 ? '' : `, ${runs} runs`}
        </Button>
        <Button
          variant="default"
          disabled={requests === null || start.isPending}
          loading={isTrying}
          onClick={onTry}
          title="Ctrl+Enter"
        >
          Try {TRIAL_ITEMS} items
        </Button>
        <Dimmed size="xs">Ctrl+Enter tries</Dimmed>
      </Group>
      {runs > MAX_RUNS && (
        <Refusal>
          These are {runs} runs; one form starts at most {MAX_RUNS}.
        </Refusal>
      )}
      {failure !== null ? (
        marked === null ? (
          <ErrorView error={failure} />
        ) : (
          <Refusal>The run cannot start yet: see the marked {marked}.</Refusal>
        )
      ) : request === null ? (
        <Dimmed>The plan appears here when the dataset and the provider are chosen.</Dimmed>
      ) : plan.data === undefined ? (
        <Skeleton height={20} />
      ) : (
        <Stack gap={4} aria-live="polite" component="section" aria-label="Plan">
          <Text size="sm" className="break">
            {factsOf(plan.data.plan, measured, runs).join(' · ')}
          </Text>
          {Object.entries(plan.data.plan.unscorable_reasons).map(([reason, count]) => (
            <Dimmed key={reason} size="xs">
              {formatCount(count)}: {reason}
            </Dimmed>
          ))}
          {plan.data.warnings.length > 0 && (
            <Alert color="yellow" title="Before you start" p="xs">
              <List size="sm">
                {plan.data.warnings.map(({ code, message }) => (
                  <List.Item key={`${code} ${message}`}>{message}</List.Item>
                ))}
              </List>
            </Alert>
          )}
        </Stack>
      )}
    </Stack>
  );
}

/** Starts runs and shows the one, or all in the list. After an error, those start again that did not. */
export function useStart(requests: readonly NewRunBody[] | null, onStarted: () => void) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const text = requests === null ? '' : canonicalJson(requests as never);
  // a request with the same key is answered like the first one, so that nothing starts twice
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another attempt
  const key = useMemo(() => crypto.getRandomValues(new Uint32Array(4)).join('-'), [text]);
  return useMutation({
    mutationFn: async () => {
      const ids: string[] = [];
      for (const [at, body] of (requests ?? []).entries()) {
        const run = await send('post', '/runs', { header: { 'Idempotency-Key': `${key}-${at}` } }, body);
        ids.push((run as { readonly id: string }).id);
      }
      return ids;
    },
    onSuccess: async (ids) => {
      onStarted();
      await queries.invalidateQueries({ queryKey: ['runs'] });
      const [id = ''] = ids;
      if (ids.length === 1) await navigate({ to: '/runs/$id', params: { id } });
      else
        await navigate({
          to: '/runs',
          search: { dataset: requests?.[0]?.dataset_id, chosen: ids.join(',') },
        });
    },
  });
}

type Planned = ResponseOf<'/runs/plan', 'post'>;

/** What a run will do, or why it cannot start. Nothing is started. */
export function usePlan(request: NewRunBody | null): UseQueryResult<Planned> {
  return useQuery({
    // as text, which has every digit
    queryKey: ['plan', request === null ? null : canonicalJson(request)],
    queryFn: ({ signal }) =>
      send(
        'post',
        '/runs/plan',
        {},
        request ?? { dataset_id: '', config: { provider: { type: 'echo' } } },
        signal,
      ),
    enabled: request !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** What a plan says in numbers, as far as they are known before. The plan is for the first of so many runs. */
export function factsOf(
  { items, requests, scorable, unscorable, reused, estimate }: Planned['plan'],
  measured: ReturnType<typeof measuredOf>,
  runs: number,
): readonly string[] {
  const { input_tokens = 0, output_tokens = null, cost = null } = estimate ?? {};
  const ofOutput = output_tokens === null ? ' and the output' : '';
  const ofFirst = runs > 1 ? ' for the first run' : '';
  const [tokens, time] = [formatCount(input_tokens + (output_tokens ?? 0)), measured?.msOf(requests)];
  return present([
    formatCountOf(items, 'item'),
    formatCountOf(requests, 'request'),
    runs > 1 && `${formatCount(runs * requests)} of all ${runs} runs`,
    `${formatCount(scorable)} can be scored`,
    unscorable > 0 && `${formatCount(unscorable)} cannot`,
    reused > 0 && `${formatCountOf(reused, 'output')} of an earlier run`,
    estimate !== null && `about ${tokens} tokens${ofOutput}${ofFirst}`,
    cost !== null && `about ${formatCost(cost)}${ofFirst}`,
    measured !== null && `about ${formatDuration(time)}${ofFirst}, by ${nameOf(measured.run)}`,
  ]);
}

/** What a run does at a time unless it says so. */
const CONCURRENCY = 8;

/** How long results take, by the last run of the same model over the same dataset that asked no judge; null without one. */
export function measuredOf(
  runs: readonly Run[],
  { dataset_id, config }: Pick<Run, 'dataset_id'> & { readonly config: object },
) {
  const asked = askedBy({ config });
  const run = runs.find((one) => {
    const { base_url, model } = askedBy(one);
    const isSame = model !== undefined && model === asked.model && base_url === asked.base_url;
    const isWhole = one.source_run_id === null && one.reused_run_id === null && one.retries === 0;
    const hasEnded = one.started_at !== null && one.finished_at !== null && one.counts.ok > 0;
    return one.dataset_id === dataset_id && isSame && isWhole && hasEnded && !hasJudge(one.config);
  });
  if (run === undefined) return null;
  const { counts, started_at, finished_at } = run;
  const elapsedMs = Date.parse(finished_at ?? '') - Date.parse(started_at ?? '');
  const oneMs = (elapsedMs * atATime(run.config, counts.done)) / counts.done;
  // as many at a time as the new run asks for
  return { run, msOf: (results: number): number => (oneMs * results) / atATime(config, results) };
}

const atATime = (config: object, results: number): number =>
  Math.max(1, Math.min((config as { readonly concurrency?: number }).concurrency ?? CONCURRENCY, results));

function hasJudge(config: object): boolean {
  const { judge, scorers, added_scorers } = config as { readonly [name: string]: unknown };
  const judges = [scorers, added_scorers].flatMap((list) =>
    Array.isArray(list) ? list.map((one: { readonly judge?: unknown }) => one.judge) : [],
  );
  return [judge, ...judges].some((one) => one != null);
}
