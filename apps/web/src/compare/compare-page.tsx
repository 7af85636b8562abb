import { MultiSelect, Stack } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { nameOf, olderFirst, type Run, runQuery, useDatasetNames, useRecentRuns } from '../runs/queries.ts';
import { LinkAnchor } from '../ui/buttons.tsx';
import { Page, Part } from '../ui/layout/page.tsx';
import { ErrorView, PageSkeleton } from '../ui/query-state.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatScore } from '../ui/text/formats.ts';
import { Comparison } from './comparison.tsx';

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
  const found = useQueries({ queries: ids.map(runQuery) });
  const runs = found.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const error = found.find(({ error: one }) => one !== null)?.error ?? null;
  const choices = [...runs, ...recent.filter(({ id }) => !ids.includes(id))];
  const chooser = (
    <MultiSelect
      label="Runs, the baseline first"
      placeholder={ids.length < 2 ? 'Choose two or more runs' : undefined}
      size="xs"
      flex="1 1 420px"
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
  );
  const isReady = ids.length >= 2 && runs.length === ids.length;
  return (
    <Page title="Compare">
      {isReady ? <Comparison runs={runs}>{chooser}</Comparison> : chooser}
      {error !== null && <ErrorView error={error} />}
      {ids.length < 2 && (
        <>
          <Dimmed>
            Runs can be compared when they share items, in any dataset: those with the same content, id or
            prompt.
          </Dimmed>
          <RecentPairs runs={recent} only={ids[0]} />
        </>
      )}
      {!isReady && ids.length >= 2 && error === null && <PageSkeleton rows={3} />}
    </Page>
  );
}

const MAX_PAIRS = 8;

/** Links to runs that can be compared for sure: the newest two of each dataset, or those of the dataset of one. */
function RecentPairs({ runs, only }: { readonly runs: readonly Run[]; readonly only: string | undefined }) {
  const datasetOf = useDatasetNames(runs);
  const chosen = runs.find(({ id }) => id === only);
  const scored = runs.filter(({ scores }) => scores.mean !== null);
  const pairs =
    chosen !== undefined
      ? scored
          .filter((run) => run !== chosen && run.dataset_id === chosen.dataset_id)
          .map((run) => olderFirst([run, chosen]))
      : only !== undefined
        ? []
        : [...Map.groupBy(scored, ({ dataset_id }) => dataset_id).values()]
            .filter(({ length }) => length > 1)
            .map((of) => olderFirst(of.slice(0, 2)));
  if (pairs.length === 0) return null;
  return (
    <Part
      title={chosen === undefined ? 'The newest two runs of a dataset' : 'With another run of its dataset'}
    >
      <Stack component="ul" gap={6} className="plain-list">
        {pairs.slice(0, MAX_PAIRS).map((pair) => (
          <li key={pair.map(({ id }) => id).join()}>
            <LinkAnchor to="/compare" search={{ runs: pair.map(({ id }) => id).join(',') }} size="sm">
              {pair.map(nameOf).join(' and ')}
            </LinkAnchor>{' '}
            {pair[0] !== undefined && <Dimmed span>{datasetOf(pair[0])}</Dimmed>}
          </li>
        ))}
      </Stack>
    </Part>
  );
}
