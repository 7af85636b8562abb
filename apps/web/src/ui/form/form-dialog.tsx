import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { ErrorView } from '../error-view.tsx';

/** A dialog with fields that does one thing and closes. An error stays in it. */
export function FormDialog({
  title,
  action,
  isDangerous = false,
  isReady = true,
  submit,
  onClose,
  children,
}: {
  readonly title: string;
  /** The text of the button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  readonly submit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { mutate, isPending, error } = useMutation({ mutationFn: submit, onSuccess: onClose });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) mutate();
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={send}>
        <Stack gap="sm">
          {children}
          {error !== null && <ErrorView error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              disabled={!isReady}
              loading={isPending}
              {...(isDangerous && { color: 'red.9' })}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
