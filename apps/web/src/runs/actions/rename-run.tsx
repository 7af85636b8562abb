import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { EditDialog } from '../../ui/edit-dialog.tsx';
import { nameOf, type Run } from '../use-run.ts';

/** Changes the name of a run. Without one, it is called after its model. */
export function RenameRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const [name, setName] = useState(run.name ?? '');
  const save = () =>
    dataOf(
      api.PATCH('/runs/{id}', {
        params: { path: { id: run.id } },
        body: { name: name.trim() === '' ? null : name.trim() },
      }),
    );
  return (
    <EditDialog title="Rename the run" save={save} shownBy={[['run', run.id], ['runs']]} onClose={onClose}>
      <TextInput
        label="Name"
        description={`Without one: ${nameOf({ ...run, name: null })}`}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        data-autofocus
      />
    </EditDialog>
  );
}
