import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { ErrorView } from '../../ui/error-view.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { useRuns } from '../use-runs.ts';
import { MAX_RUNS } from './matrix.ts';
import { PlanView, usePlan } from './plan-view.tsx';
import { TRIAL_ITEMS } from './playground.tsx';
import { measuredOf } from './provider/suggestions-of.ts';
import type { NewRunBody } from './run-form.ts';
import type { useStart } from './use-start.ts';

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
  const known = useRuns({ dataset_id, limit: KNOWN_RUNS }, { enabled: request !== null }).data;
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
