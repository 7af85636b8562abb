import { Group, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '../../session/session.tsx';
import { CountBars } from '../../ui/charts/count-bars.tsx';
import { isShown } from '../../ui/is-shown.ts';
import { LinkButton } from '../../ui/layout/links.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { labelsQuery, type Run } from '../queries.ts';
import { MAX_SAMPLE, MAX_SEED } from '../runs-search.ts';
import { Agreement } from './agreement.tsx';

const route = getRouteApi('/runs/$id');

/** What people say of the outputs of a run: how scorers agree with them, and which failures they name. */
export default function LabelsTab({ run }: { readonly run: Run }) {
  const navigate = route.useNavigate();
  const canLabel = useCan('editor');
  const found = useQuery(labelsQuery(run));
  if (!isShown(found)) return <QueryState query={found} rows={3} />;
  const { labels, people, types } = found.data;
  return (
    <Stack>
      {labels === 0 && (
        <Text size="sm">
          Nobody has labelled an output of this run.
          {canLabel &&
            ' Open a result and press 1 if its output is right or 0 if it is wrong, or label a blind sample.'}
        </Text>
      )}
      {canLabel && <SampleForm run={run} />}
      {labels > 0 && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Agreement run={run} people={people.map(({ by }) => by)} />
          <CountBars
            title="Types of failure"
            counts={new Map(types.map(({ type, labels: count }) => [type, count]))}
            onChoose={(label_type) =>
              void navigate({ search: ({ columns, scorer }) => ({ columns, scorer, label_type }) })
            }
          />
        </SimpleGrid>
      )}
    </Stack>
  );
}

const [RESULTS, SEED] = [100, 1] as const;

/** Opens a blind sample. People who state the same seed label the same results. */
function SampleForm({ run }: { readonly run: Run }) {
  const [n, setN] = useState<string | number>(RESULTS);
  const [seed, setSeed] = useState<string | number>(SEED);
  const field = { size: 'xs', w: 110, allowDecimal: false, clampBehavior: 'strict' } as const;
  return (
    <Group gap="xs" align="end">
      <NumberInput {...field} label="Results" min={1} max={MAX_SAMPLE} value={n} onChange={setN} />
      <NumberInput {...field} label="Seed" min={0} max={MAX_SEED} value={seed} onChange={setSeed} />
      <LinkButton
        to="/runs/$id"
        params={{ id: run.id }}
        search={{
          sample: 'blind',
          n: n === '' ? RESULTS : Number(n),
          seed: seed === '' ? SEED : Number(seed),
        }}
        size="xs"
      >
        Label a blind sample
      </LinkButton>
    </Group>
  );
}
