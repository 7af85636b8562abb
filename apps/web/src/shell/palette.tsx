import { Combobox, Modal, Text, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { get } from '../api/api.ts';
import { isItemHash } from '../datasets/dataset-search.ts';
import { nameOf } from '../runs/queries.ts';
import { useCan } from '../session/session.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount } from '../ui/text/formats.ts';
import { readPlaces } from '../ui/visits.ts';
import { PAGES } from './pages.ts';

const TYPING_MS = 200;
const SHOWN = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OPEN = /^\/(datasets|runs)\/([0-9a-f-]{36})$/;

interface Choice {
  /** Path and query of a page; what follows `#` only tells it from another choice. */
  readonly value: string;
  readonly label: string;
}

export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const canEdit = useCan('editor');
  const can = { viewer: true, editor: canEdit, admin: useCan('admin') };
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['palette', q],
    queryFn: async ({ signal }) => {
      const runsWith = async (query: { readonly limit: number; readonly name?: string }) =>
        (await get('/runs', { query }, signal)).data;
      const [datasets, recent, named] = await Promise.all([
        get('/datasets', { query: { limit: SHOWN, q: q || undefined } }, signal),
        runsWith({ limit: 100 }),
        q === '' ? [] : runsWith({ limit: SHOWN, name: q }),
      ]);
      const runs = new Map([...recent, ...named].map((run) => [run.id, run]));
      return { datasets: datasets.data, runs: [...runs.values()] };
    },
    placeholderData: keepPreviousData,
  });
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const items = useFoundItems(q, path);
  const has = (name: string): boolean => name.toLowerCase().includes(typed.trim().toLowerCase());
  const named = (choices: readonly Choice[]): readonly Choice[] => choices.filter(({ label }) => has(label));
  const groups: readonly (readonly [title: string, choices: readonly Choice[]])[] = [
    ['To do', named(actionsOf(path, canEdit))],
    [
      'Recent',
      named(
        readPlaces()
          .filter((place) => place.path !== path)
          .map((place) => ({ value: `${place.path}#recent`, label: place.title })),
      ),
    ],
    ['Pages', named(PAGES.filter(({ role }) => can[role]).map(({ to, label }) => ({ value: to, label })))],
    [
      'Datasets',
      named((found.data?.datasets ?? []).map(({ id, name }) => ({ value: `/datasets/${id}`, label: name }))),
    ],
    [
      'Runs',
      (found.data?.runs ?? [])
        .filter((run) => has(nameOf(run)) || run.id === q)
        .slice(0, SHOWN)
        .map((run) => ({ value: `/runs/${run.id}`, label: nameOf(run) })),
    ],
    ['Items', items.found],
    [
      'By id',
      UUID.test(q)
        ? [
            { value: `/datasets/${q}#id`, label: `Dataset ${q}` },
            { value: `/runs/${q}#id`, label: `Run ${q}` },
          ]
        : [],
    ],
  ];
  const shown = groups.filter(([, choices]) => choices.length > 0);
  // Escape would close the list alone
  const list = useCombobox({ opened: true, onDropdownClose: onClose });
  const go = (value: string): void => {
    onClose();
    const [to = '', query = ''] = (value.split('#')[0] ?? '').split('?');
    void navigate({ to, search: Object.fromEntries(new URLSearchParams(query)) });
  };
  return (
    <Modal opened onClose={onClose} title="Go to" size="lg">
      <Combobox store={list} onOptionSubmit={go}>
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            // immediately: people keep typing
            autoFocus
            role="combobox"
            aria-label="Page, dataset, run or item"
            placeholder="Page, dataset or run; id or hash of an item"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options mt="xs" mah="50dvh" className="palette" aria-label="Found">
          {shown.map(([title, choices]) => (
            <Combobox.Group key={title} label={title}>
              {choices.map(({ value, label }) => (
                <Combobox.Option key={value} value={value}>
                  <Text span size="sm" dir="auto" className="break">
                    {label}
                  </Text>
                </Combobox.Option>
              ))}
            </Combobox.Group>
          ))}
        </Combobox.Options>
        <FirstOption
          of={`${shown.map(([, { length }]) => length)} ${typed}`}
          select={list.selectFirstOption}
        />
      </Combobox>
      <Dimmed size="xs" role="status">
        {items.isLooking
          ? `Looking for an item: ${formatCount(items.looked)} of ${formatCount(items.total)} datasets…`
          : shown.length === 0 &&
            (items.looked < items.total
              ? `Nothing has this name, id or hash in the newest ${formatCount(items.looked)} of ${formatCount(items.total)} datasets.`
              : 'Nothing has this name, id or hash.')}
      </Dimmed>
    </Modal>
  );
}

/** Marks the first option, which Enter means, whenever there are others. It follows them: then they are in the page. */
function FirstOption({ of, select }: { readonly of: string; readonly select: () => void }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are others
  useEffect(() => void select(), [of]);
  return null;
}

function actionsOf(path: string, canEdit: boolean): readonly Choice[] {
  const [, kind, id] = OPEN.exec(path) ?? [];
  const actions = {
    datasets: [{ value: `/runs/new?dataset=${id}`, label: 'Run this dataset', forEditors: true }],
    runs: [
      { value: `/compare?runs=${id}`, label: 'Compare this run with…', forEditors: false },
      { value: `/runs/new?copy=${id}`, label: 'Copy this run', forEditors: true },
    ],
  };
  return (actions[kind as keyof typeof actions] ?? []).filter(({ forEditors }) => canEdit || !forEditors);
}

/** Datasets in which an id is looked for at most: the page's, then the newest ones. */
const MAX_SEARCHED = 1_000;
const PAGE = 100;
/** Datasets that are looked through at a time. */
const AT_A_TIME = 6;
const ITEMS_EACH = 3;
/** With so many found, the rest is not looked through. */
const ENOUGH = 6;

/** The items that were found, and in how many of all datasets they were looked for. */
type Search = typeof NOTHING;

const NOTHING = { found: [] as readonly Choice[], looked: 0, total: 0 };

/** The items with this id or hash: of the dataset whose page or run is open, then of all others, the newest first. */
function useFoundItems(text: string, path: string): Search & { readonly isLooking: boolean } {
  const [progress, setProgress] = useState({ of: '', search: NOTHING });
  const search = useQuery({
    queryKey: ['palette-items', text, path],
    queryFn: ({ signal }) =>
      findItems(text, path, signal, (found) => setProgress({ of: text, search: found })),
    // a name with spaces is none of an item
    enabled: text !== '' && !/\s/.test(text),
    staleTime: 30_000,
  });
  return {
    ...(search.data ?? (progress.of === text ? progress.search : NOTHING)),
    isLooking: search.isFetching,
  };
}

async function findItems(
  text: string,
  path: string,
  signal: AbortSignal,
  onProgress: (search: Search) => void,
): Promise<Search> {
  const isHash = isItemHash(text);
  const findIn = async (id: string, known?: string): Promise<readonly Choice[]> => {
    const by = isHash ? { item_hash: text } : { item_id: text };
    const query = { ...by, limit: ITEMS_EACH, assets: 'link' as const };
    const { data } = await get('/datasets/{id}/items', { path: { id }, query }, signal);
    if (data.length === 0) return [];
    const name = known ?? (await get('/datasets/{id}', { path: { id } }, signal)).name;
    // equal items have one address
    return [...new Set(data.map(({ item_hash }) => item_hash))].map((hash) => ({
      value: `/datasets/${id}?item=${hash}`,
      label: `Item ${isHash ? hash.slice(0, 12) : text} (${name})`,
    }));
  };
  const [, kind, id] = OPEN.exec(path) ?? [];
  const open =
    id === undefined || kind === 'datasets'
      ? id
      : (await get('/runs/{id}', { path: { id } }, signal)).dataset_id;
  let search: Search = { ...NOTHING, found: open === undefined ? [] : await findIn(open) };
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, cursor };
    const { data, meta } = await get('/datasets', { query }, signal);
    for (let at = 0; at < data.length && search.found.length < ENOUGH; at += AT_A_TIME) {
      const some = data.slice(at, at + AT_A_TIME);
      const found = await Promise.all(some.map((one) => (one.id === open ? [] : findIn(one.id, one.name))));
      search = {
        found: [...search.found, ...found.flat()],
        looked: search.looked + some.length,
        total: meta.total_items,
      };
      onProgress(search);
    }
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined && search.looked < MAX_SEARCHED && search.found.length < ENOUGH);
  return search;
}
