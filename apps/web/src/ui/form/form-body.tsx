import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { ErrorView } from '../error-view.tsx';

export interface FormBodyProps {
  /** The text of the button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  readonly submit: () => Promise<unknown>;
  readonly onClose: () => void;
  /** How an error is shown, if not as a whole. */
  readonly showError?: (error: Error) => ReactNode;
  readonly children: ReactNode;
}

/** Fields that do one thing and close. An error stays with them. */
export function FormBody({
  action,
  isDangerous = false,
  isReady = true,
  submit,
  onClose,
  showError = (error) => <ErrorView error={error} />,
  children,
}: FormBodyProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: submit, onSuccess: onClose });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) mutate();
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        {children}
        {error !== null && showError(error)}
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
  );
}
