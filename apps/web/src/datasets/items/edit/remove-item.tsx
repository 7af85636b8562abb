import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { send } from '../../../api/send.ts';
import { Fields } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/form/form-dialog.tsx';
import { formatCountOf } from '../../../ui/text/formats.ts';
import { MESSAGE_FIELD, useChange } from '../../queries.ts';
import { ChangeError } from '../../versions/change-error.tsx';
import type { Dataset, ListedItem } from '../item-windows.ts';

/** Removes items from the newest version, after a confirmation. Older versions keep them. */
export function RemoveItems({
  dataset,
  items,
  position,
  onClose,
}: {
  readonly dataset: Dataset;
  readonly items: readonly Pick<ListedItem, 'item_hash' | 'section'>[];
  /** Where the item was that is open; the one that is there afterwards opens. */
  readonly position?: string | undefined;
  readonly onClose: () => void;
}) {
  const change = useChange();
  const form = useForm({ initialValues: { message: '' } });
  const what = items.length === 1 ? 'the item' : formatCountOf(items.length, 'item');
  const remove = (): Promise<void> =>
    change(
      send(
        'patch',
        '/datasets/{id}/items',
        { path: { id: dataset.id }, header: { 'If-Match': `"${dataset.version_hash}"` } },
        {
          edits: items.map(({ item_hash, section }) => ({ item_hash, section, remove: true as const })),
          message: form.values.message || null,
        },
      ),
      position,
    );
  return (
    <FormDialog
      title={`Remove ${what}`}
      action="Remove"
      isDangerous
      submit={remove}
      onClose={onClose}
      showError={(error) => <ChangeError dataset={dataset} error={error} />}
    >
      <Text size="sm">
        The next version of the dataset does not have {items.length === 1 ? 'it' : 'them'}. Older versions
        keep {items.length === 1 ? 'it' : 'them'}.
      </Text>
      <Fields form={form} fields={[MESSAGE_FIELD]} />
    </FormDialog>
  );
}
