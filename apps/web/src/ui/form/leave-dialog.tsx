import { Text } from '@mantine/core';
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { FormDialog } from './form-dialog.tsx';

/** Asks before something is left that would be lost: by a link, the buttons of the browser, or a closed window. */
export function LeaveDialog({
  title,
  action,
  text,
  isLost = () => true,
  onLeave,
}: {
  readonly title: string;
  /** The text of the button that leaves. */
  readonly action: string;
  readonly text: string;
  /** Whether a navigation would lose it; by default each. */
  readonly isLost?: ShouldBlockFn;
  readonly onLeave?: () => void;
}) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isLost,
    enableBeforeUnload: true,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  const leave = async (): Promise<void> => {
    onLeave?.();
    proceed();
  };
  return (
    <FormDialog title={title} action={action} submit={leave} onClose={reset}>
      <Text size="sm">{text}</Text>
    </FormDialog>
  );
}
