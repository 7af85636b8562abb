import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { useSaved } from '../../ui/form/use-saved.ts';
import type { Dataset } from '../items/item-windows.ts';

const FIELDS: readonly Field[] = [
  { name: 'name', label: 'Name', required: true, maxLength: 255, isFirst: true },
  {
    name: 'handle',
    label: 'Handle',
    description: 'A short name that programs can use in place of the id, such as gsm8k-test',
    maxLength: 96,
    pointer: '/handle',
  },
  { name: 'description', label: 'Description', kind: 'lines' },
  { name: 'notes', label: 'Notes', kind: 'lines' },
];

/** Changes the name, description and notes of a dataset. */
export function EditDataset({
  dataset: { id, name, handle, description, notes },
  onClose,
}: {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const navigate = useNavigate();
  const saved = useSaved(['dataset'], ['datasets']);
  const form = useForm({
    initialValues: { name, handle: handle ?? '', description: description ?? '', notes: notes ?? '' },
  });
  const save = async (): Promise<void> => {
    const { values } = form;
    // only what was changed here: another person may have changed the rest
    const body = {
      ...(form.isDirty('name') && { name: values.name }),
      ...(form.isDirty('handle') && { handle: values.handle.trim() || null }),
      ...(form.isDirty('description') && { description: values.description || null }),
      ...(form.isDirty('notes') && { notes: values.notes || null }),
    };
    if (Object.keys(body).length === 0) return;
    // the address may have the handle
    if (body.handle !== undefined) await navigate({ to: '/datasets/$id', params: { id }, replace: true });
    await saved(dataOf(api.PATCH('/datasets/{id}', { params: { path: { id } }, body })));
  };
  return (
    <FormDialog title="Edit the dataset" action="Save" submit={save} onClose={onClose}>
      <Fields form={form} fields={FIELDS} />
    </FormDialog>
  );
}
