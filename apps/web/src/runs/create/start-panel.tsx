import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { type UseMutationResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { send } from '../../api/send.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { runsQuery } from '../queries.ts';
import { PlanView, usePlan } from './plan-view.tsx';
import { TRIAL_ITEMS } from './playground.tsx';
import { measuredOf } from './provider/suggestions-of.ts';
import { MAX_RUNS, type NewRunBody } from './run-form.ts';

/** Runs of the dataset, the newest, that may say how long this one takes. */
const KNOWN_RUNS = 100;

/** What tries and starts the runs of a form, at every place of it in view, and the plan of the first one. */
export function StartPanel({
  request,
  requests,
  failure,
  marked,
  start,
  onTry,
  isTrying,
}: {
  /** The first run after typing has paused; null while it is incomplete. */
  readonly request: NewRunBody | null;
  /** All runs, as the form is now. */
  readonly requests: readonly NewRunBody[] | null;
  /** Why they cannot start. */
  readonly failure: Error | null;
  /** Where the form says so; null if it does not. */
  readonly marked: string | null;
  readonly start: ReturnType<typeof useStart>;
  readonly onTry: () => void;
  readonly isTrying: boolean;
}) {
  const plan = usePlan(request);
  const dataset_id = request?.dataset_id ?? '';
  const known = useQuery({ ...runsQuery({ dataset_id, limit: KNOWN_RUNS }), enabled: request !== null }).data;
  const measured = useMemo(
    () => (request === null ? null : measuredOf(known?.data ?? [], request)),
    [known, request],
  );
  const runs = requests?.length ?? 1;
  const items = failure === null ? plan.data?.plan.items : undefined;
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
      {request === null && (
        <Dimmed>The plan appears here when the dataset and the provider are chosen.</Dimmed>
      )}
      {failure !== null && marked === null && <ErrorView error={failure} />}
      {failure !== null && marked !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          The run cannot start yet: see the marked {marked}.
        </Text>
      )}
      {runs > MAX_RUNS && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          These are {runs} runs; one form starts at most {MAX_RUNS}.
        </Text>
      )}
      {request !== null && failure === null && plan.data === undefined && <Skeleton height={20} />}
      {request !== null && failure === null && plan.data !== undefined && (
        <PlanView planned={plan.data} measured={measured} runs={runs} />
      )}
    </Stack>
  );
}

/**
 * Starts runs and opens the page of the one, or the list with all of them chosen. A second try after an error starts those
 * again that did not start.
 */
export function useStart(
  requests: readonly NewRunBody[] | null,
  onStarted: () => void,
): UseMutationResult<readonly string[], Error, void> {
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
