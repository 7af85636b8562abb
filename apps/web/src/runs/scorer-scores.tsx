import { getRouteApi } from '@tanstack/react-router';
import { groupScores } from '../ui/charts/group-scores.ts';
import { ScoreBars } from '../ui/charts/score-bars.tsx';
import type { Run } from './use-run.ts';

const route = getRouteApi('/runs/$id');

/** The score of a run by each of its scorers. Each leads to the results that the scorer finds wrong. */
export function ScorerScores({ run: { scorers } }: { readonly run: Run }) {
  const navigate = route.useNavigate();
  const order = Object.keys(scorers);
  const groups = groupScores(scorers).toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  return (
    <ScoreBars
      title="Score by scorer"
      groups={groups}
      onChoose={(scorer) =>
        void navigate({ resetScroll: false, search: ({ columns }) => ({ columns, scorer, passed: false }) })
      }
    />
  );
}
