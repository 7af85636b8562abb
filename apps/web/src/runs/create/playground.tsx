import {
  Box,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
} from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useMutation, useQuery } from '@tanstack/react-query';
import { get, send } from '../../api/api.ts';
import { questionOf } from '../../datasets/items/item-reading.ts';
import { Folded, Part } from '../../ui/layout/page.tsx';
import { ErrorView } from '../../ui/query-state.tsx';
import { JsonText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatDuration, formatScore, plainText, textOrJson } from '../../ui/text/formats.ts';
import { RichText, Value } from '../../ui/text/rich-text.tsx';
import { nameOf, runsQuery } from '../queries.ts';
import { Mark, readOf } from '../results/listed-result.tsx';
import { FailureView } from '../results/pane/failure-view.tsx';
import { idsOf, stated } from './config-values.ts';
import type { NewRunBody } from './run-form.ts';

type Tried = ResponseOf<'/runs/try', 'post'>['data'][number];

export const TRIAL_ITEMS = 3;

const VARIANTS = 2;

const KINDS = [
  { value: 'random', label: 'Random' },
  { value: 'chosen', label: 'Chosen' },
  { value: 'failed', label: 'Failed in a run' },
] as const;

export interface TrialItems {
  readonly kind: (typeof KINDS)[number]['value'];
  readonly seed: number;
  readonly ids: readonly string[];
  readonly runId: string | null;
}

export const SOME_ITEMS: TrialItems = { kind: 'random', seed: 1, ids: [], runId: null };

/** Asks the model some items, of each variant the same; nothing is stored. */
export function useTrial(items: TrialItems) {
  return useMutation({
    mutationFn: async (requests: readonly NewRunBody[]) => {
      const [first] = requests;
      if (first === undefined) return [];
      const select = await selectionOf(first, items);
      const params = { query: { items: TRIAL_ITEMS } };
      const variants = await Promise.all(
        requests
          .slice(0, VARIANTS)
          .map(({ config, ...rest }) =>
            send('post', '/runs/try', params, { ...rest, config: { ...config, select } }),
          ),
      );
      return await Promise.all(
        (variants[0]?.data ?? []).map(async ({ item_id, section, order_index }, at) => ({
          name: plainText(item_id as JsonValue) || `${section} ${order_index}`,
          item: await readItem(first, section, order_index),
          variants: variants.flatMap(({ data }) => data[at] ?? []),
        })),
      );
    },
  });
}

async function selectionOf({ config }: NewRunBody, { kind, seed, ids, runId }: TrialItems) {
  if (kind === 'random') {
    const { sections, types, tags } = config.select ?? {};
    return { ...stated({ sections, types, tags }), sample: { n: TRIAL_ITEMS, seed } };
  }
  if (kind === 'chosen') {
    if (ids.length === 0) throw new RangeError('Choose up to three items by their ids.');
    return { item_ids: ids.slice(0, TRIAL_ITEMS).flatMap(idsOf) };
  }
  if (runId === null) throw new RangeError('Choose a run whose wrong results are tried.');
  const params = { path: { id: runId }, query: { passed: false, limit: TRIAL_ITEMS } };
  const { data } = await get('/runs/{id}/results', params);
  const failed = data.flatMap(({ item_id }) => item_id ?? []);
  if (failed.length === 0) throw new RangeError('This run has no wrong result whose item has an id.');
  return { item_ids: failed };
}

async function readItem({ dataset_id: id, version }: NewRunBody, section: string, offset: number) {
  const query = { section, offset, limit: 1, assets: 'link' as const, version: version?.toString() };
  const { data } = await get('/datasets/{id}/items', { path: { id }, query });
  return (data[0]?.item ?? null) as JsonObject | null;
}

export function Playground(props: {
  readonly items: TrialItems;
  readonly onItems: (items: TrialItems) => void;
  readonly datasetId: string | null;
  readonly ids: readonly string[];
  readonly trial: ReturnType<typeof useTrial>;
}) {
  const { items, onItems, datasetId, ids, trial } = props;
  const { data: tried, error } = trial;
  const field = { size: 'xs', w: 240 } as const;
  const runs = useQuery({
    ...runsQuery({ dataset_id: datasetId ?? '', limit: 50 }),
    enabled: datasetId !== null,
  }).data?.data;
  const failed = runs?.filter(({ scores }) => scores.wrong > 0) ?? [];
  return (
    <Stack component="section" aria-label="Trial" gap="sm">
      <Group gap="xs" align="end">
        <SegmentedControl
          aria-label="Which items are tried"
          size="xs"
          value={items.kind}
          onChange={(kind) => onItems({ ...items, kind })}
          data={[...KINDS]}
        />
        {items.kind === 'random' && (
          <NumberInput
            {...field}
            w={90}
            aria-label="Seed of the items"
            min={0}
            max={2 ** 31 - 1}
            allowDecimal={false}
            value={items.seed}
            onChange={(seed) => onItems({ ...items, seed: Number(seed) || 0 })}
          />
        )}
        {items.kind === 'chosen' && (
          <TagsInput
            {...field}
            aria-label="Ids of the items"
            placeholder="Up to three ids"
            maxTags={TRIAL_ITEMS}
            data={[...ids]}
            value={[...items.ids]}
            onChange={(chosen) => onItems({ ...items, ids: chosen })}
          />
        )}
        {items.kind === 'failed' && (
          <Select
            {...field}
            aria-label="Run whose wrong results are tried"
            placeholder="Run"
            data={failed.map((run) => ({ value: run.id, label: nameOf(run) }))}
            value={items.runId}
            onChange={(runId) => onItems({ ...items, runId })}
          />
        )}
      </Group>
      {error !== null && <ErrorView error={error} />}
      {tried === undefined ? (
        <Dimmed>Three items are asked and scored here. Nothing of it is stored.</Dimmed>
      ) : (
        tried.map((one) => <TriedView key={one.name} tried={one} />)
      )}
    </Stack>
  );
}

type TriedItem = NonNullable<ReturnType<typeof useTrial>['data']>[number];

function TriedView({ tried: { name, item, variants } }: { readonly tried: TriedItem }) {
  const expected = item === null ? undefined : getMember(item, 'answer');
  const isSeveral = variants.length > 1;
  return (
    <Box component="article" className="framed">
      <Text component="h2" m={0} fw={600} size="sm" dir="auto" className="break">
        {name}
      </Text>
      {item !== null && (
        <Text size="sm" lineClamp={8} dir="auto" className="lines break" my={4}>
          {questionOf(item, 4_000)}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, xs: 1 + variants.length }} spacing="md">
        <Part title="Expected" order={3}>
          {expected === undefined || expected === null ? <Dimmed>–</Dimmed> : <Value value={expected} />}
        </Part>
        {variants.map((variant, at) => (
          <Part
            key={at === 0 ? 'A' : 'B'}
            title={isSeveral ? `Output ${at === 0 ? 'A' : 'B'}` : 'Output'}
            order={3}
          >
            <Answer tried={variant} />
          </Part>
        ))}
      </SimpleGrid>
    </Box>
  );
}

function Answer({ tried }: { readonly tried: Tried }) {
  const { request, output, error, latency_ms, scores } = tried;
  const [main] = Object.values(scores);
  const read =
    main === undefined
      ? undefined
      : readOf({ output, explanation: main.explanation, scored_by: main.scored_by });
  return (
    <Stack gap={4}>
      {error !== null && <FailureView failure={error as object} what="result" />}
      {output !== null && output !== undefined && <RichText text={textOrJson(output as JsonValue)} />}
      {read !== undefined && (
        <Text size="sm">
          <Dimmed span>Read: </Dimmed>
          <b>{read}</b>
        </Text>
      )}
      {Object.entries(scores).map(([scorer, { score, passed, explanation, error: why }]) => (
        <Group key={scorer} gap={6} wrap="nowrap" align="flex-start">
          <span className="whole">
            <Mark result={{ status: 'ok', passed }} />
          </span>
          <Text size="sm" className="break">
            {scorer === 'main' ? '' : `${scorer}: `}
            {formatScore(score)} <Dimmed span>{explanation ?? why?.message}</Dimmed>
          </Text>
        </Group>
      ))}
      {latency_ms !== null && <Dimmed size="xs">{formatDuration(latency_ms)}</Dimmed>}
      <Folded title="Request" of={request}>
        {(sent) => <JsonText value={sent as JsonValue} label="the request" />}
      </Folded>
    </Stack>
  );
}
