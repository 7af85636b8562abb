import { Button, type ButtonProps } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';

/** Cancels a job. */
export function CancelJob({
  job: { id, status },
  size,
}: {
  readonly job: { readonly id: string; readonly status: string };
} & Pick<ButtonProps, 'size'>) {
  const api = useApi();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => dataOf(api.POST('/jobs/{id}/cancel', { params: { path: { id } } })),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['job', id] });
      await queries.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
  return (
    <Button
      size={size}
      variant="default"
      w="fit-content"
      disabled={status === 'cancelling'}
      loading={cancel.isPending}
      onClick={() => cancel.mutate()}
    >
      Cancel
    </Button>
  );
}
