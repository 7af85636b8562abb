import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { Dataset } from '../items/item-windows.ts';
import { ChangeError } from './change-error.tsx';
import { MESSAGE_FIELD } from './message-field.ts';
import { useChange } from './use-change.ts';
import type { Version } from './use-versions.ts';

/** Makes the content of an old version the newest one, after a confirmation. */
export function RestoreVersion({
  newest,
  version,
  onClose,
}: {
  readonly newest: Dataset;
  readonly version: Version;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const change = useChange();
  const form = useForm({ initialValues: { message: `Restore version ${version.version}` } });
  const restore = (): Promise<void> =>
    change(
      dataOf(
        api.POST('/datasets/{id}/restore', {
          params: { path: { id: newest.id }, header: { 'If-Match': `"${newest.version_hash}"` } },
          body: { version: version.version, message: form.values.message || null },
        }),
      ),
    );
  return (
    <FormDialog
      title={`Restore version ${version.version}`}
      action="Restore"
      submit={restore}
      onClose={onClose}
      showError={(error) => <ChangeError dataset={newest} error={error} />}
    >
      <Text size="sm">
        Its {formatCount(version.item_count)} items become the next version of the dataset. Version{' '}
        {newest.version} stays in the history.
      </Text>
      <Fields form={form} fields={[MESSAGE_FIELD]} />
    </FormDialog>
  );
}
