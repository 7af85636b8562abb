import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { useNotify } from '../../ui/layout/notices.tsx';
import { nameOf, type Run } from '../use-run.ts';

/** Changes the name of a run. Without one, it is called after its model. */
export function RenameRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState(run.name ?? '');
  const save = useMutation({
    mutationFn: () =>
      dataOf(
        api.PATCH('/runs/{id}', {
          params: { path: { id: run.id } },
          body: { name: name.trim() === '' ? null : name.trim() },
        }),
      ),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['run', run.id] }),
        queries.invalidateQueries({ queryKey: ['runs'] }),
      ]);
      notify('Saved.');
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal opened onClose={onClose} title="Rename the run" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="Name"
            description={`Without one: ${nameOf({ ...run, name: null })}`}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={255}
            data-autofocus
          />
          {save.error !== null && <ErrorView error={save.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
