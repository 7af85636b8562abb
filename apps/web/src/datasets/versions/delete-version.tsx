import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { send } from '../../api/send.ts';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { useNotify } from '../../ui/layout/notices.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import { useRefresh, type Version } from '../queries.ts';

/** Deletes an old version, after a confirmation that also covers its runs. */
export function DeleteVersion({
  id,
  version: { version, run_count },
  onClose,
}: {
  readonly id: string;
  readonly version: Version;
  readonly onClose: () => void;
}) {
  const notify = useNotify();
  const refresh = useRefresh();
  const form = useForm({ initialValues: { withRuns: false } });
  const remove = async (): Promise<void> => {
    const query = form.values.withRuns ? { runs: 'delete' as const } : {};
    await send('delete', '/datasets/{id}/versions/{version}', {
      path: { id, version: String(version) },
      query,
    });
    await refresh();
    notify(`Deleted version ${version}.`);
  };
  return (
    <FormDialog
      title={`Delete version ${version}`}
      action="Delete for good"
      isDangerous
      isReady={run_count === 0 || form.values.withRuns}
      submit={remove}
      onClose={onClose}
    >
      <Text size="sm">
        What only this version holds is removed from the database. The other versions stay. It cannot be
        undone.
      </Text>
      {run_count > 0 && (
        <Fields
          form={form}
          fields={[
            {
              name: 'withRuns',
              kind: 'checkbox',
              label: `Delete its ${run_count === 1 ? 'run' : `${formatCount(run_count)} runs`} too`,
            },
          ]}
        />
      )}
    </FormDialog>
  );
}
