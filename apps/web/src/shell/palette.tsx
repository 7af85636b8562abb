import { Modal, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { nameOf } from '../runs/use-run.ts';
import { useFoundItems } from './use-found-items.ts';

const TYPING_MS = 200;
const SHOWN = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const PAGES = [
  ['/datasets', 'Datasets'],
  ['/import', 'Hub import'],
  ['/upload', 'Upload'],
  ['/runs', 'Runs'],
  ['/runs/new', 'New run'],
  ['/compare', 'Compare'],
  ['/jobs', 'Jobs'],
  ['/status', 'Status'],
  ['/settings', 'Settings'],
] as const;

/** Finds a page, a dataset or a run by a part of its name, or by its id, and an item by its id or hash, and goes there. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const api = useApi();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['palette', q],
    queryFn: async ({ signal }) => {
      const runsWith = async (query: { readonly limit: number; readonly name?: string }) =>
        (await dataOf(api.GET('/runs', { params: { query }, signal }))).data;
      const [datasets, recent, named] = await Promise.all([
        dataOf(api.GET('/datasets', { params: { query: { limit: SHOWN, q: q || undefined } }, signal })),
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
  const groups = [
    {
      group: 'Pages',
      items: PAGES.filter(([, label]) => has(label)).map(([value, label]) => ({ value, label })),
    },
    {
      group: 'Datasets',
      items: (found.data?.datasets ?? [])
        .filter(({ name }) => has(name))
        .map(({ id, name }) => ({ value: `/datasets/${id}`, label: name })),
    },
    {
      group: 'Runs',
      items: (found.data?.runs ?? [])
        .filter((run) => has(nameOf(run)) || run.id === q)
        .slice(0, SHOWN)
        .map((run) => ({ value: `/runs/${run.id}`, label: nameOf(run) })),
    },
    {
      group: 'Items',
      items: items.map(({ datasetId, datasetName, hash, label }) => ({
        value: `/datasets/${datasetId}?item=${hash}`,
        label: `${label} (${datasetName})`,
      })),
    },
    {
      group: 'By id',
      items: UUID.test(q)
        ? [
            { value: `/datasets/${q}#id`, label: `Dataset ${q}` },
            { value: `/runs/${q}#id`, label: `Run ${q}` },
          ]
        : [],
    },
  ];
  const go = (value: string | null): void => {
    if (value === null) return;
    onClose();
    const [to = '', query = ''] = value.replace('#id', '').split('?');
    void navigate({ to, search: Object.fromEntries(new URLSearchParams(query)) });
  };
  return (
    <Modal opened onClose={onClose} title="Go to">
      <Select
        data-autofocus
        // immediately: people keep typing
        autoFocus
        aria-label="Page, dataset, run or item"
        placeholder="Page, dataset or run; id or hash of an item"
        searchable
        defaultDropdownOpened
        nothingFoundMessage="Nothing has this name, id or hash."
        filter={({ options }) => options}
        searchValue={typed}
        onSearchChange={setTyped}
        value={null}
        onChange={go}
        onKeyDown={(event) => {
          // Enter without a chosen option means the first one
          const first = groups.flatMap(({ items }) => items)[0];
          const isChosen = event.currentTarget.getAttribute('aria-activedescendant') !== null;
          if (event.key === 'Enter' && !isChosen && first !== undefined) go(first.value);
        }}
        data={groups}
      />
    </Modal>
  );
}
