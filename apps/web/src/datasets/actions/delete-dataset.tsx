import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { useNotify } from '../../ui/layout/notices.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import { TypeToConfirm } from '../../ui/type-to-confirm.tsx';
import type { Dataset } from '../items/item-windows.ts';

/** Deletes a dataset with its runs, after its name was typed. */
export function DeleteDataset({
  dataset,
  onClose,
}: {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const remove = useMutation({
    mutationFn: () => dataOf(api.DELETE('/datasets/{id}', { params: { path: { id: dataset.id } } })),
    onSuccess: async () => {
      notify(`Deleted ${dataset.name}.`);
      await navigate({ to: '/datasets' });
      queries.removeQueries({ queryKey: ['dataset', dataset.id] });
      await queries.invalidateQueries({ queryKey: ['datasets'] });
    },
  });
  return (
    <TypeToConfirm
      title="Delete the dataset"
      name={dataset.name}
      action="Delete for good"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      This deletes {formatCount(dataset.item_count)} items and all runs of this dataset. It cannot be undone.
    </TypeToConfirm>
  );
}
