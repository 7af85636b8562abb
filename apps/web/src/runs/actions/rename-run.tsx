import { useForm } from '@mantine/form';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { useSaved } from '../../ui/form/use-saved.ts';
import { nameOf, type Run } from '../use-run.ts';

/** Changes the name of a run. Without one, it is called after its model. */
export function RenameRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const saved = useSaved(['run', run.id], ['runs']);
  const form = useForm({ initialValues: { name: run.name ?? '' } });
  const description = `Without one: ${nameOf({ ...run, name: null })}`;
  const save = (): Promise<void> => {
    const params = { path: { id: run.id } };
    const body = { name: form.values.name.trim() || null };
    return saved(dataOf(api.PATCH('/runs/{id}', { params, body })));
  };
  return (
    <FormDialog title="Rename the run" action="Save" submit={save} onClose={onClose}>
      <Fields
        form={form}
        fields={[{ name: 'name', label: 'Name', description, maxLength: 255, isFirst: true }]}
      />
    </FormDialog>
  );
}
