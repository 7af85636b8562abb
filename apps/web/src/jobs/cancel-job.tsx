import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCancelJob } from './use-job.ts';

/** Cancels a job of the list. */
export function CancelJob({ id, status }: { readonly id: string; readonly status: string }) {
  const queries = useQueryClient();
  const cancel = useCancelJob(id);
  return (
    <Button
      size="compact-xs"
      variant="default"
      disabled={status === 'cancelling'}
      loading={cancel.isPending}
      onClick={() =>
        cancel.mutate(undefined, { onSettled: () => void queries.invalidateQueries({ queryKey: ['jobs'] }) })
      }
    >
      Cancel
    </Button>
  );
}
