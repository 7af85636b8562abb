import { Group, Text } from '@mantine/core';
import { LinkButton } from '../../ui/layout/links.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';

/** Says in place of the filters that the list is a blind sample, and how much of it is labelled; leads out of it. */
export function BlindSample({
  run,
  search: { seed = 0 },
  labelled,
  total,
}: {
  readonly run: Run;
  readonly search: RunSearch;
  /** Results that are labelled, of those that were read. */
  readonly labelled: number;
  readonly total: number | undefined;
}) {
  return (
    <Group gap="xs">
      <Text size="sm">Seed {seed}: the run and what it is like are hidden</Text>
      {total !== undefined && (
        <Text size="sm" fw={600} aria-live="polite">
          {formatCount(labelled)} of {formatCount(total)} labelled
        </Text>
      )}
      <LinkButton
        to="/runs/$id"
        params={{ id: run.id }}
        search={{ tab: 'labels' }}
        size="xs"
        variant="default"
      >
        End the blind sample
      </LinkButton>
    </Group>
  );
}
