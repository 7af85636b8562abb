import { Button } from '@mantine/core';
import { IconArrowsDiff, IconDownload, IconPlayerStop } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useCan } from '../session/session.tsx';
import { LinkButton } from '../ui/layout/links.tsx';
import type { Run } from './use-run.ts';

/** What can be done with a run; what the session's role may not do is not offered. */
export function RunActions({ run }: { readonly run: Run }) {
  const api = useApi();
  const queries = useQueryClient();
  const canEdit = useCan('editor');
  const path = { id: run.id };
  const cancel = useMutation({
    mutationFn: () => dataOf(api.POST('/runs/{id}/cancel', { params: { path } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['run', run.id] }),
  });
  return (
    <>
      {canEdit && run.finished_at === null && (
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
      <LinkButton
        size="xs"
        variant="default"
        leftSection={<IconArrowsDiff size={16} />}
        to="/compare"
        search={{ runs: run.id }}
      >
        Compare
      </LinkButton>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={16} />}
        component="a"
        href={`/datasets/${run.dataset_id}/export?run_id=${run.id}`}
        download
      >
        Export
      </Button>
    </>
  );
}
