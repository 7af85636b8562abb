import { Button, Group, Modal, Stack } from '@mantine/core';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { ErrorView } from './error-view.tsx';
import { useNotify } from './layout/notices.tsx';

/** A dialog that saves the fields in it, refreshes what shows them, and closes. */
export function EditDialog({
  title,
  save,
  shownBy,
  onClose,
  children,
}: {
  readonly title: string;
  readonly save: () => Promise<unknown>;
  /** The queries whose data has the fields. */
  readonly shownBy: readonly QueryKey[];
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const queries = useQueryClient();
  const notify = useNotify();
  const saving = useMutation({
    mutationFn: save,
    onSuccess: async () => {
      await Promise.all(shownBy.map((queryKey) => queries.invalidateQueries({ queryKey })));
      notify('Saved.');
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {children}
          {saving.error !== null && <ErrorView error={saving.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
