import { MultiSelect } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { nameOf } from '../runs/use-run.ts';
import { useRecentRuns, useRunsById } from '../runs/use-runs.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatScore } from '../ui/text/formats.ts';
import { Comparison } from './comparison.tsx';
import { RecentPairs } from './recent-pairs.tsx';

const route = getRouteApi('/compare');

const MAX_RUNS = 6;

/** What may be the id of a run: without the texts that a path takes for another one. */
const ID = /^[\w-]+$/;

/** Compares runs with a first one: differences, wins and losses, and the items in which they differ. */
export default function ComparePage() {
  const { runs: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const ids = [...new Set(chosen?.split(',').filter((id) => ID.test(id)))].slice(0, MAX_RUNS);
  const recent = useRecentRuns();
  const found = useRunsById(ids);
  const runs = found.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const error = found.find(({ error: one }) => one !== null)?.error ?? null;
  const choices = [...runs, ...recent.filter(({ id }) => !ids.includes(id))];
  return (
    <Page title="Compare" subtitle="The first run is the baseline.">
      <MultiSelect
        label="Runs"
        placeholder={ids.length < 2 ? 'Choose two or more runs' : undefined}
        searchable
        clearable
        maxValues={MAX_RUNS}
        value={ids}
        onChange={(values) =>
          void navigate({
            resetScroll: false,
            search: { runs: values.length === 0 ? undefined : values.join(',') },
          })
        }
        data={choices.map((run) => ({
          value: run.id,
          label: `${nameOf(run)} (${formatScore(run.scores.mean)}${run.name === null ? '' : `, ${run.id.slice(-4)}`})`,
        }))}
      />
      {error !== null && <ErrorView error={error} />}
      {ids.length < 2 ? (
        <>
          <Dimmed>
            Runs can be compared when they share items, in any dataset: those with the same content, id or
            prompt.
          </Dimmed>
          {ids.length === 0 && <RecentPairs runs={recent} />}
        </>
      ) : runs.length < ids.length ? (
        error === null && <PageSkeleton rows={3} />
      ) : (
        <Comparison key={ids.join()} runs={runs} />
      )}
    </Page>
  );
}
