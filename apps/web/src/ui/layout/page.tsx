import { Box, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from 'react';
import { consoleName } from '../../brand.ts';
import { onDemand } from '../query-state.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { SwitchedTexts } from '../text/rich-text.tsx';
import { keepPlace } from '../visits.ts';

const TextSwitch = onDemand(
  () => import('../text/text-switch.tsx'),
  () => null,
);

const ONE = /^\/(?:datasets|runs)\/[0-9a-f-]{36}$/;

export function Page(props: {
  readonly title: string;
  readonly subtitle?: ReactNode;
  readonly actions?: ReactNode;
  /** Whether title and subtitle share a line: the content has the room. */
  readonly isCompact?: boolean;
  readonly children: ReactNode;
}) {
  const { title, subtitle, actions, isCompact = false, children } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${consoleName()}`;
    const path = location.pathname.replace(/^\/console/, '');
    if (ONE.test(path) && heading.current !== null) keepPlace({ path, title });
  }, [title]);
  const [texts, setTexts] = useState(0);
  const count = useCallback((change: 1 | -1) => setTexts((before) => before + change), []);
  // null for the first page
  const navigated = useContext(NavigatedContext);
  useEffect(() => {
    // a dialog keeps the focus
    if (navigated !== null && document.querySelector('[role=dialog]') === null)
      heading.current?.focus({ preventScroll: true });
  }, [navigated]);
  return (
    <Stack gap={isCompact ? 6 : 'sm'} maw={isCompact ? undefined : 1600} w="100%" mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} flex="1 1 280px" className={isCompact ? 'compact-title' : undefined}>
          <Title ref={heading} order={1} size="h3" className="break page-title" dir="auto" tabIndex={-1}>
            {title}
          </Title>
          {subtitle !== undefined && (
            <Dimmed component="div" className="break">
              {subtitle}
            </Dimmed>
          )}
        </Box>
        <Group gap="xs">
          {texts > 0 && <TextSwitch />}
          {actions}
        </Group>
      </Group>
      <SwitchedTexts value={count}>{children}</SwitchedTexts>
    </Stack>
  );
}

/** The tabs of a page. Only the open one is in the page. */
export function PageTabs<Key extends string>(props: {
  readonly tabs: readonly (readonly [key: Key, label: string, content: ReactNode])[];
  readonly open: Key;
  readonly onOpen: (key: Key) => void;
}) {
  const { tabs, open, onOpen } = props;
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
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

const NavigatedContext = createContext<string | null>(null);

/** Tells pages to which one the browser came from another page of the console. */
export const NavigatedProvider = NavigatedContext.Provider;

/** A titled part of a page, or with `order` 3 of what has a title itself; nothing without content. */
export function Part(props: {
  readonly title: string;
  readonly order?: 2 | 3;
  /** Follows the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const { title, order = 2, aside, children } = props;
  if (children === false) return null;
  return (
    <Box component="section">
      <Group gap={4} mb={4}>
        <Title order={order} size="xs" c="dimmed">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Box>
  );
}

/** A part that is in the page once it is opened; none without what it is of. */
export function Folded<Of>(props: {
  readonly title: string;
  readonly of: Of | null;
  readonly children: (of: Of) => ReactNode;
}) {
  const { title, of, children } = props;
  const [isOpen, setOpen] = useState(false);
  if (of === null || (Array.isArray(of) && of.length === 0)) return null;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Text span size="sm">
          {title}
        </Text>
      </summary>
      {isOpen && children(of)}
    </details>
  );
}
