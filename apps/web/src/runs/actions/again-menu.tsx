import { Menu } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { MenuButton } from '../../ui/menu-button.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { Run } from '../use-run.ts';

export type RetryOnly = 'failed' | 'unscored' | 'truncated';

const RETRIES: readonly (readonly [RetryOnly, string])[] = [
  ['failed', 'Retry failed results'],
  ['unscored', 'Retry unscored results'],
  ['truncated', 'Retry truncated results'],
];

/** What can be done again with a run that has ended: some of its results, or the scores of all. */
export function AgainMenu({
  run,
  isPending,
  onRetry,
  onContinue,
  onRescore,
  onAdd,
}: {
  readonly run: Run;
  readonly isPending: boolean;
  readonly onRetry: (only: RetryOnly) => void;
  readonly onContinue: () => void;
  readonly onRescore: () => void;
  readonly onAdd: () => void;
}) {
  // a run that came with a package, or has the outputs of another one, has no provider to ask again
  const canRetry = !run.imported && run.source_run_id === null;
  return (
    <MenuButton label="Again" icon={<IconRefresh size={16} />} isPending={isPending}>
      {canRetry && run.status === 'stopped' && (
        <Menu.Item onClick={onContinue}>Continue with another maximum cost…</Menu.Item>
      )}
      {canRetry &&
        RETRIES.map(([only, label]) => (
          <Menu.Item
            key={only}
            // a run that ended early also has results that are missing
            disabled={run.counts[only] === 0 && run.counts.done === run.counts.total}
            onClick={() => onRetry(only)}
          >
            {label} ({formatCount(run.counts[only])})
          </Menu.Item>
        ))}
      <Menu.Item onClick={onRescore}>Score again…</Menu.Item>
      {!run.imported && <Menu.Item onClick={onAdd}>Add a scorer…</Menu.Item>}
    </MenuButton>
  );
}
