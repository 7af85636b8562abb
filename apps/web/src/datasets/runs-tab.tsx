import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { comparisonOf, nameOf, runsQuery } from '../runs/queries.ts';
import { DEFAULT_RUN_COLUMNS, RunsTable } from '../runs/runs-table.tsx';
import { LinkAnchor, SmallButton } from '../ui/buttons.tsx';
import { ScoreBars } from '../ui/charts/bars.tsx';
import { isShown, QueryState } from '../ui/query-state.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import type { Dataset } from './items/item-windows.ts';
import { ScoreTimeline } from './score-timeline.tsx';

const SHOWN = 50;
const REFRESH_MS = 5_000;

const RUN_COLUMNS = DEFAULT_RUN_COLUMNS.map((key) => (key === 'dataset' ? 'version' : key));

export default function RunsTab({ dataset }: { readonly dataset: Dataset }) {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [sort, setSort] = useState<string>();
  const query = runsQuery({ dataset_id: dataset.id, limit: SHOWN });
  const found = useQuery({ ...query, refetchInterval: REFRESH_MS });
  if (!isShown(found)) return <QueryState query={found} rows={3} />;
  const { data: runs, meta } = found.data;
  if (runs.length === 0) return <Dimmed>No runs yet.</Dimmed>;
  const scored = runs.filter(({ scores }) => scores.mean !== null).toReversed();
  return (
    <Stack>
      <ScoreTimeline runs={scored} />
      <ScoreBars
        title="Scores, the oldest first"
        nameHeader="Run"
        groups={scored.map((run) => ({
          name: dataset.version_count > 1 ? `${nameOf(run)} (version ${run.dataset_version})` : nameOf(run),
          mean: run.scores.mean ?? 0,
          ci95: run.scores.ci95,
          count: run.counts.ok,
        }))}
      />
      <SmallButton
        label={`Compare ${chosen.length < 2 ? '' : chosen.length}`}
        w="fit-content"
        disabled={chosen.length < 2}
        onClick={() => void navigate({ to: '/compare', search: { runs: comparisonOf(runs, chosen) } })}
      />
      <RunsTable
        runs={runs}
        chosen={chosen}
        defaults={RUN_COLUMNS}
        view={{ sort }}
        onView={(view) => 'sort' in view && setSort(view.sort)}
        onChoose={setChosen}
      />
      {meta.total_items > runs.length && (
        <LinkAnchor to="/runs" search={{ dataset: dataset.id }}>
          All {meta.total_items} runs
        </LinkAnchor>
      )}
    </Stack>
  );
}
