import { Group, Text } from '@mantine/core';
import { LinkButton } from '../../ui/layout/links.tsx';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';

/** Says in place of the filters that the list is a blind sample, and leads out of it. */
export function BlindSample({
  run,
  search: { seed = 0 },
}: {
  readonly run: Run;
  readonly search: RunSearch;
}) {
  return (
    <Group gap="xs">
      <Text size="sm">Seed {seed}: the run and what it is like are hidden</Text>
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
