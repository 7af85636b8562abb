import { Badge } from '@mantine/core';

const COLORS: Readonly<Record<string, string>> = {
  queued: 'gray',
  running: 'blue',
  completed: 'teal',
  succeeded: 'teal',
  ok: 'teal',
  failed: 'red',
  cancelling: 'orange',
  cancelled: 'gray',
  stopped: 'orange',
  unscored: 'gray',
};

/** The state of a run, job or result. */
export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <Badge size="sm" miw="max-content" variant="dot" color={COLORS[status] ?? 'gray'}>
      {status}
    </Badge>
  );
}
