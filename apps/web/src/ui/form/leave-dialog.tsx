import { Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { FormDialog } from './form-dialog.tsx';

/** Asks before the page is left in the middle of an upload, which ends with it. */
export function LeaveDialog({ onLeave }: { readonly onLeave: () => void }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => true,
    enableBeforeUnload: true,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  const leave = async (): Promise<void> => {
    onLeave();
    proceed();
  };
  return (
    <FormDialog title="Leave during the upload?" action="End it and leave" submit={leave} onClose={reset}>
      <Text size="sm">The file is not stored yet. If you leave this page, the upload ends.</Text>
    </FormDialog>
  );
}
