import { Tabs } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { PageSkeleton } from './page-skeleton.tsx';

/** The tabs of a page. Only the open one is in the page; its code may still load. */
export function PageTabs<Key extends string>({
  tabs,
  open,
  onOpen,
}: {
  readonly tabs: readonly (readonly [key: Key, label: string, content: ReactNode])[];
  readonly open: Key;
  readonly onOpen: (key: Key) => void;
}) {
  return (
    <Tabs value={open} keepMounted={false} onChange={(key) => key !== null && onOpen(key as Key)}>
      <Tabs.List className="tabs-in-a-line">
        {tabs.map(([key, label]) => (
          <Tabs.Tab key={key} value={key}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(([key, , content]) => (
        <Tabs.Panel key={key} value={key} pt={8}>
          <Suspense fallback={<PageSkeleton />}>{content}</Suspense>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
