import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useNotify } from '../layout/notices.tsx';
import { Fields } from './fields.tsx';
import { FormDialog } from './form-dialog.tsx';

/** Asks for a name before something is deleted permanently, and then shows the list that it was in. */
export function DeleteDialog({
  what,
  name,
  warning,
  remove,
  list,
  shownBy,
  onClose,
}: {
  /** What is deleted, such as "run". */
  readonly what: string;
  /** What must be typed. */
  readonly name: string;
  readonly warning: string;
  readonly remove: () => Promise<unknown>;
  readonly list: '/datasets' | '/runs';
  /** The query of what is deleted. */
  readonly shownBy: QueryKey;
  readonly onClose: () => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm({ initialValues: { typed: '' } });
  const submit = async (): Promise<void> => {
    await remove();
    notify(`Deleted ${name}.`);
    await navigate({ to: list });
    queries.removeQueries({ queryKey: shownBy });
    await queries.invalidateQueries({ queryKey: [list.slice(1)] });
  };
  return (
    <FormDialog
      title={`Delete the ${what}`}
      action="Delete for good"
      isDangerous
      isReady={form.values.typed === name}
      submit={submit}
      onClose={onClose}
    >
      <Text size="sm">{warning} It cannot be undone.</Text>
      <Fields
        form={form}
        fields={[{ name: 'typed', label: 'Type the name to confirm', description: name, isFirst: true }]}
      />
    </FormDialog>
  );
}
