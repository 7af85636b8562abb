import { Stack } from '@mantine/core';
import { useDatasetNames } from '../runs/dataset-names.ts';
import { nameOf, type Run } from '../runs/use-run.ts';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { Part } from '../ui/layout/part.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';

const MAX_PAIRS = 8;

/** The two newest runs of each dataset, as links to their comparison: runs of one dataset can always be compared. */
export function RecentPairs({ runs }: { readonly runs: readonly Run[] }) {
  const datasetOf = useDatasetNames(runs);
  const scored = runs.filter(({ scores }) => scores.mean !== null);
  const pairs = [...Map.groupBy(scored, ({ dataset_id }) => dataset_id).values()].flatMap(
    ([newest, before]) => (newest === undefined || before === undefined ? [] : [[before, newest] as const]),
  );
  if (pairs.length === 0) return null;
  return (
    <Part title="The newest two runs of a dataset">
      <Stack component="ul" gap={6} className="plain-list">
        {pairs.slice(0, MAX_PAIRS).map(([before, newest]) => (
          <li key={newest.id}>
            <LinkAnchor to="/compare" search={{ runs: `${before.id},${newest.id}` }} size="sm">
              {nameOf(before)} and {nameOf(newest)}
            </LinkAnchor>{' '}
            <Dimmed span>{datasetOf(newest)}</Dimmed>
          </li>
        ))}
      </Stack>
    </Part>
  );
}
