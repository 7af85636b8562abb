import { Menu } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { MenuButton } from './buttons.tsx';
import { useNotify } from './layout/notices.tsx';
import { onDemand } from './query-state.tsx';
import type { RawSearch } from './search-params.ts';

const NameView = onDemand(
  () => import('./name-view.tsx'),
  () => null,
);

interface View {
  readonly name: string;
  readonly search: RawSearch;
}

/** What an address states of one visit: open and chosen rows, and pages. */
const OF_A_VISIT: ReadonlySet<string> = new Set(['cursor', 'chosen', 'item', 'result', 'tab']);

/** What it states of the thing that is looked at, which stays whatever view is chosen. */
const OF_THE_THING: ReadonlySet<string> = new Set(['version', 'other', 'from', 'to', 'only']);

const MAX_VIEWS = 30;
const NONE: readonly View[] = [];

export const viewOf = (address: RawSearch): RawSearch =>
  statedBy(address, (name) => !OF_A_VISIT.has(name) && !OF_THE_THING.has(name));

export const addressOf = (view: RawSearch, now: RawSearch): RawSearch => ({
  ...statedBy(now, (name) => OF_THE_THING.has(name)),
  ...view,
});

const statedBy = (address: RawSearch, isKept: (name: string) => boolean): RawSearch =>
  Object.fromEntries(Object.entries(address).filter(([name, value]) => value !== undefined && isKept(name)));

export function SavedViews(props: {
  /** The list: each has views of its own. */
  readonly of: 'datasets' | 'runs' | 'results' | 'items';
}) {
  const { of } = props;
  const navigate = useNavigate();
  const notify = useNotify();
  const now = useRouterState({ select: ({ location }) => location.search as RawSearch });
  const [views, setViews] = useLocalStorage({ key: `svc.views.${of}`, defaultValue: NONE });
  const [isNaming, setIsNaming] = useState(false);
  const others = (left: string): readonly View[] => views.filter((view) => view.name !== left);
  const save = (name: string): void => {
    setViews([...others(name), { name, search: viewOf(now) }].slice(-MAX_VIEWS));
    notify('The view is saved in this browser.');
  };
  return (
    <>
      <MenuButton label="Views" icon="bookmark">
        {views.map((view) => (
          <Menu.Item
            key={view.name}
            onClick={() => void navigate({ to: '.', search: addressOf(view.search, now) as never })}
          >
            {view.name}
          </Menu.Item>
        ))}
        {views.length > 0 && <Menu.Divider />}
        <Menu.Item onClick={() => setIsNaming(true)}>Save view</Menu.Item>
        {views.map((view) => (
          <Menu.Item key={`remove ${view.name}`} c="dimmed" onClick={() => setViews(others(view.name))}>
            Remove {view.name}
          </Menu.Item>
        ))}
      </MenuButton>
      {isNaming && <NameView onSave={save} onClose={() => setIsNaming(false)} />}
    </>
  );
}
