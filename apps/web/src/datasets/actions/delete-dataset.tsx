import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { DeleteDialog } from '../../ui/form/delete-dialog.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { Dataset } from '../items/item-windows.ts';

/** Deletes a dataset with its runs, after its name was typed. */
export function DeleteDataset({
  dataset: { id, name, item_count },
  onClose,
}: {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}) {
  const api = useApi();
  return (
    <DeleteDialog
      what="dataset"
      name={name}
      warning={`This deletes ${formatCount(item_count)} items and all runs of this dataset.`}
      remove={() => dataOf(api.DELETE('/datasets/{id}', { params: { path: { id } } }))}
      list="/datasets"
      shownBy={['dataset', id]}
      onClose={onClose}
    />
  );
}
