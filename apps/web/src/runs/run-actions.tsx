import { Button, Menu } from '@mantine/core';
import {
  IconArrowsDiff,
  IconChevronDown,
  IconDownload,
  IconPlayerStop,
  IconRefresh,
  IconTrash,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useCan } from '../session/session.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkButton } from '../ui/layout/links.tsx';
import { TypeToConfirm } from '../ui/type-to-confirm.tsx';
import { RescoreRun } from './rescore-run.tsx';
import { nameOf, type Run } from './use-run.ts';

const TABLES = [
  ['Results as JSON Lines', 'results.jsonl'],
  ['Results as CSV', 'results.csv'],
  ['Results as Parquet', 'results.parquet'],
] as const;

const RETRIES = [
  ['Failed results', 'failed'],
  ['Unscored results', 'unscored'],
  ['Truncated results', 'truncated'],
] as const;

/** What can be done with a run; what the session's role may not do is not offered. */
export function RunActions({ run }: { readonly run: Run }) {
  const canEdit = useCan('editor');
  const [isDeleting, setDeleting] = useState(false);
  const [isRescoring, setRescoring] = useState(false);
  const hasEnded = run.finished_at !== null;
  const { cancel, retry } = useRunChanges(run.id);
  return (
    <>
      {canEdit && !hasEnded && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerStop size={16} />}
          disabled={run.status === 'cancelling'}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          Cancel
        </Button>
      )}
      {canEdit && hasEnded && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconRefresh size={16} />}
              rightSection={<IconChevronDown size={14} />}
            >
              Again
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {!run.imported &&
              RETRIES.map(([label, only]) => (
                <Menu.Item key={only} onClick={() => retry.mutate(only)}>
                  {label}
                </Menu.Item>
              ))}
            <Menu.Item onClick={() => setRescoring(true)}>Score again…</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <LinkButton
        size="xs"
        variant="default"
        leftSection={<IconArrowsDiff size={16} />}
        to="/compare"
        search={{ runs: run.id }}
      >
        Compare
      </LinkButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={`/datasets/${run.dataset_id}/export?run_id=${run.id}`} download>
            Package with the dataset
          </Menu.Item>
          {TABLES.map(([label, path]) => (
            <Menu.Item key={path} component="a" href={`/runs/${run.id}/${path}`} download>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {canEdit && hasEnded && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconTrash size={16} />}
          onClick={() => setDeleting(true)}
        >
          Delete
        </Button>
      )}
      {retry.error !== null && <ErrorView error={retry.error} />}
      {isDeleting && <DeleteRun run={run} onClose={() => setDeleting(false)} />}
      {isRescoring && <RescoreRun run={run} onClose={() => setRescoring(false)} />}
    </>
  );
}

function useRunChanges(id: string) {
  const api = useApi();
  const queries = useQueryClient();
  const params = { path: { id } };
  const onSettled = (): Promise<void> => queries.invalidateQueries({ queryKey: ['run', id] });
  const cancel = useMutation({
    mutationFn: () => dataOf(api.POST('/runs/{id}/cancel', { params })),
    onSettled,
  });
  const retry = useMutation({
    mutationFn: (only: (typeof RETRIES)[number][1]) =>
      dataOf(api.POST('/runs/{id}/retry', { params, body: { only } })),
    onSettled,
  });
  return { cancel, retry };
}

function DeleteRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => dataOf(api.DELETE('/runs/{id}', { params: { path: { id: run.id } } })),
    onSuccess: async () => {
      await navigate({ to: '/runs' });
      await queries.invalidateQueries({ queryKey: ['runs'] });
    },
  });
  return (
    <TypeToConfirm
      title="Delete the run"
      name={nameOf(run)}
      action="Delete for good"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      This deletes the run with its {run.counts.done} results. It cannot be undone.
    </TypeToConfirm>
  );
}
