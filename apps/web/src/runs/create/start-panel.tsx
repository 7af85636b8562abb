import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { ErrorView } from '../../ui/error-view.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { useRuns } from '../use-runs.ts';
import { MAX_RUNS } from './matrix.ts';
import { PlanView, usePlan } from './plan-view.tsx';
import { measuredOf } from './provider/suggestions-of.ts';
import type { NewRunBody } from './run-form.ts';
import { TRIAL_ITEMS, type useTrial } from './trial.tsx';
import type { useStart } from './use-start.ts';

/** Runs of the dataset, the newest, that may say how long this one takes. */
const KNOWN_RUNS = 100;

/** What starts the runs of a form, and the plan of the first one. It stays in view at every place of the form. */
export function StartPanel({
  request,
  requests,
  failure,
  marked,
  start,
  trial,
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
  readonly trial: ReturnType<typeof useTrial>;
}) {
  const plan = usePlan(request);
  const dataset_id = request?.dataset_id ?? '';
  const known = useRuns({ dataset_id, limit: KNOWN_RUNS }, { enabled: request !== null }).data;
  const measured = useMemo(
    () => (request === null ? null : measuredOf(known?.data ?? [], request)),
    [known, request],
  );
  const runs = requests?.length ?? 1;
  const first = requests?.[0];
  return (
    <Stack className="stays-in-view">
      {request === null && (
        <Dimmed>The plan appears here when the dataset and the provider are chosen.</Dimmed>
      )}
      {failure !== null && marked === null && <ErrorView error={failure} />}
      {failure !== null && marked !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          The run cannot start yet: see the marked {marked}.
        </Text>
      )}
      {request !== null && failure === null && plan.data === undefined && <Skeleton height={160} />}
      {request !== null && failure === null && plan.data !== undefined && (
        <PlanView planned={plan.data} measured={measured} runs={runs} />
      )}
      {runs > MAX_RUNS && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          These are {runs} runs; one form starts at most {MAX_RUNS}.
        </Text>
      )}
      <Group gap="sm">
        <Button
          disabled={requests === null || failure !== null || runs > MAX_RUNS}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {runs === 1 ? 'Start the run' : `Start ${runs} runs`}
        </Button>
        <Button
          variant="default"
          disabled={first === undefined || failure !== null || start.isPending}
          loading={trial.isPending}
          onClick={() => first !== undefined && trial.mutate(first)}
        >
          Try {TRIAL_ITEMS} items
        </Button>
      </Group>
    </Stack>
  );
}
