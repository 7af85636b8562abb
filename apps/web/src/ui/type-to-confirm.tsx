import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ErrorView } from './error-view.tsx';

/** Asks for a name before something is deleted for good. */
export function TypeToConfirm({
  title,
  name,
  children,
  action,
  isPending,
  error,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  /** What must be typed. */
  readonly name: string;
  readonly children: ReactNode;
  /** The text of the button. */
  readonly action: string;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed === name) onConfirm();
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" component="div">
            {children}
          </Text>
          <TextInput
            label="Type the name to confirm"
            description={name}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          {error !== null && error !== undefined && <ErrorView error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red.9" disabled={typed !== name} loading={isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
