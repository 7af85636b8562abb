import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { useNotify } from '../../ui/layout/notices.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import { TypeToConfirm } from '../../ui/type-to-confirm.tsx';
import { nameOf, type Run } from '../use-run.ts';

/** Deletes a run with its results, after its name was typed. */
export function DeleteRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const remove = useMutation({
    mutationFn: () => dataOf(api.DELETE('/runs/{id}', { params: { path: { id: run.id } } })),
    onSuccess: async () => {
      notify(`Deleted ${nameOf(run)}.`);
      await navigate({ to: '/runs' });
      queries.removeQueries({ queryKey: ['run', run.id] });
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
      This deletes the run with its {formatCount(run.counts.done)} results. It cannot be undone.
    </TypeToConfirm>
  );
}
