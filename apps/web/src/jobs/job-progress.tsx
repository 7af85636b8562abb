import { type ButtonProps, Group, Progress, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ApiProblem, apiQuery, send } from '../api/api.ts';
import { useEvents } from '../api/streams.ts';
import { datasetQuery } from '../datasets/queries.ts';
import { useCan } from '../session/session.tsx';
import { SmallButton } from '../ui/buttons.tsx';
import { ErrorView, isShown, QueryState } from '../ui/query-state.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatBytes, formatCount, formatCountOf, formatDuration } from '../ui/text/formats.ts';
import { Stored } from '../upload/send-form.tsx';

export function JobProgress({ id, onRetry }: { readonly id: string; readonly onRetry?: () => void }) {
  const queries = useQueryClient();
  const { found, rate } = useJob(id);
  const datasetId = found.data?.status === 'succeeded' ? found.data.dataset_id : null;
  // not every row that was read need be an item of it
  const stored = useQuery(datasetQuery(datasetId)).data;
  useEffect(() => {
    if (datasetId !== null) void queries.invalidateQueries({ queryKey: ['datasets'] });
  }, [datasetId, queries]);
  if (!isShown(found)) return <QueryState query={found} rows={1} />;
  const job = found.data;
  if (datasetId !== null)
    return (
      <Stored
        id={datasetId}
        title={stored === undefined ? 'Stored' : `Stored ${formatCountOf(stored.item_count, 'item')}`}
      >
        <Dimmed>{progressText(job)}</Dimmed>
      </Stored>
    );
  const share = shareOf(job);
  const isActive = job.finished_at === null;
  return (
    <Stack gap={6} role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {job.status}
        </Text>
        <Dimmed>
          {progressText(job)}
          {isActive && rate !== null && `, ${formatCount(Math.round(rate))} rows/s`}
          {isActive && rate !== null && leftText(job, rate)}
        </Dimmed>
      </Group>
      {isActive && <Progress value={share ?? 100} animated aria-label="Progress of the import" />}
      {job.error !== null && <ErrorView error={new ApiProblem(job.error)} onRetry={onRetry} />}
      {isActive && <CancelJob job={job} size="xs" />}
    </Stack>
  );
}

/** The share that is done, in percent; undefined if the total is unknown. */
export function shareOf({ progress }: Job): number | undefined {
  const { rows_done, rows_total, bytes_done, bytes_total } = progress;
  if (rows_total !== null && rows_total > 0) return (100 * rows_done) / rows_total;
  return bytes_total === null || bytes_total === 0 ? undefined : (100 * bytes_done) / bytes_total;
}

export function progressText({ progress }: Job): string {
  const { rows_done, rows_total, bytes_done, bytes_total } = progress;
  const rows =
    rows_total === null ? formatCount(rows_done) : `${formatCount(rows_done)} of ${formatCount(rows_total)}`;
  const bytes =
    bytes_total === null
      ? bytes_done > 0
        ? formatBytes(bytes_done)
        : ''
      : `${formatBytes(bytes_done)} of ${formatBytes(bytes_total)}`;
  return [`${rows} rows`, bytes].filter((text) => text !== '').join(', ');
}

function leftText({ progress: { rows_done, rows_total } }: Job, rate: number): string {
  if (rows_total === null || rate <= 0) return '';
  return `, ${formatDuration((1000 * (rows_total - rows_done)) / rate)} left`;
}

type Job = ResponseOf<'/jobs/{id}', 'get'>;

function useJob(id: string) {
  const queries = useQueryClient();
  const seen = useRef<{ readonly atMs: number; readonly rows: number } | null>(null);
  const found = useQuery(apiQuery(['job', id], '/jobs/{id}', { path: { id } }));
  const job = found.data;
  useEvents<Job>(job !== undefined && job.finished_at === null ? `/jobs/${id}/events` : null, (next) =>
    queries.setQueryData(['job', id], next),
  );
  if (job?.status === 'running' && seen.current === null)
    seen.current = { atMs: performance.now(), rows: job.progress.rows_done };
  const start = seen.current;
  const elapsedMs = start === null ? 0 : performance.now() - start.atMs;
  const rows = start === null || job === undefined ? 0 : job.progress.rows_done - start.rows;
  // rows per second since the page saw the job first
  const rate = rows > 0 && elapsedMs > 500 ? (1000 * rows) / elapsedMs : null;
  return { found, rate };
}

export function CancelJob(
  props: {
    readonly job: { readonly id: string; readonly status: string };
  } & Pick<ButtonProps, 'size'>,
) {
  const { size } = props;
  const { id, status } = props.job;
  const canEdit = useCan('editor');
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => send('post', '/jobs/{id}/cancel', { path: { id } }),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['job', id] });
      await queries.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
  if (!canEdit) return null;
  return (
    <SmallButton
      label="Cancel"
      size={size}
      w="fit-content"
      disabled={status === 'cancelling'}
      loading={cancel.isPending}
      onClick={() => cancel.mutate()}
    />
  );
}
