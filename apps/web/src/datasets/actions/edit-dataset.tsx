import { useForm } from '@mantine/form';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { useSaved } from '../../ui/form/use-saved.ts';
import type { Dataset } from '../items/item-windows.ts';

const FIELDS: readonly Field[] = [
  { name: 'name', label: 'Name', required: true, maxLength: 255, isFirst: true },
  { name: 'description', label: 'Description', kind: 'lines' },
  { name: 'notes', label: 'Notes', kind: 'lines' },
];

/** Changes the name, description and notes of a dataset. */
export function EditDataset({
  dataset: { id, name, description, notes },
  onClose,
}: {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const saved = useSaved(['dataset', id], ['datasets']);
  const form = useForm({ initialValues: { name, description: description ?? '', notes: notes ?? '' } });
  const save = (): Promise<void> => {
    const { values } = form;
    const body = { name: values.name, description: values.description || null, notes: values.notes || null };
    return saved(dataOf(api.PATCH('/datasets/{id}', { params: { path: { id } }, body })));
  };
  return (
    <FormDialog title="Edit the dataset" action="Save" submit={save} onClose={onClose}>
      <Fields form={form} fields={FIELDS} />
    </FormDialog>
  );
}
