import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../../../api/api-context.tsx';
import { dataOf } from '../../../api/api-problem.ts';
import { Fields } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/form/form-dialog.tsx';
import { ChangeError } from '../../versions/change-error.tsx';
import { MESSAGE_FIELD } from '../../versions/message-field.ts';
import { useChange } from '../../versions/use-change.ts';
import { type Dataset, type ListedItem, positionIn } from '../item-windows.ts';

/** Removes an item from the newest version, after a confirmation. Older versions keep it. */
export function RemoveItem({
  dataset,
  listed,
  onClose,
}: {
  readonly dataset: Dataset;
  readonly listed: ListedItem;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const { item_hash, section } = listed;
  const change = useChange();
  const form = useForm({ initialValues: { message: '' } });
  const remove = (): Promise<void> =>
    change(
      dataOf(
        api.PATCH('/datasets/{id}/items', {
          params: { path: { id: dataset.id }, header: { 'If-Match': `"${dataset.version_hash}"` } },
          body: { edits: [{ item_hash, section, remove: true }], message: form.values.message || null },
        }),
      ),
      positionIn(dataset, listed),
    );
  return (
    <FormDialog
      title="Remove the item"
      action="Remove"
      isDangerous
      submit={remove}
      onClose={onClose}
      showError={(error) => <ChangeError dataset={dataset} error={error} />}
    >
      <Text size="sm">The next version of the dataset does not have it. Older versions keep it.</Text>
      <Fields form={form} fields={[MESSAGE_FIELD]} />
    </FormDialog>
  );
}
