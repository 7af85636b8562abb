import { AppShell, Box, Burger, Group, Kbd, Modal, NavLink, ScrollArea, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { BRAND, consoleName } from '../brand.ts';
import { SessionBoundary, useCan } from '../session/session.tsx';
import { useTour } from '../tour/use-tour.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { NameValues } from '../ui/layout/name-values.tsx';
import { NavigatedProvider, Page } from '../ui/layout/page.tsx';
import { onDemand } from '../ui/query-state.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { DropAnywhere } from './drop-anywhere.tsx';
import { PAGES } from './pages.ts';

export function Shell() {
  return (
    <SessionBoundary>
      <Frame />
    </SessionBoundary>
  );
}

function Frame() {
  useKeepFocus();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const canEdit = useCan('editor');
  const can = { viewer: true, editor: canEdit, admin: useCan('admin') };
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isAllowed = canEdit || !PAGES.some(({ to, role }) => to === path && role === 'editor');
  const [firstPath] = useState(path);
  const hasLeft = useRef(false);
  hasLeft.current ||= path !== firstPath;
  const navigated = hasLeft.current ? path : null;
  return (
    <AppShell
      header={{ height: { base: 48, sm: 0 } }}
      navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
      transitionDuration={0}
    >
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="sm">
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Navigation" />
          <Face />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <Box px="sm" py="xs" visibleFrom="sm">
          <Face />
        </Box>
        <AppShell.Section grow component={ScrollArea}>
          {PAGES.filter(({ role }) => can[role]).map(
            ({ to, label, icon }) =>
              icon && <PageLink key={to} to={to} label={label} icon={icon} onClick={close} />,
          )}
        </AppShell.Section>
        <NavLink
          href="/docs"
          label="API documentation"
          leftSection={<Icon name="fileText" size={18} aria-hidden />}
        />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <ConnectionBanner />
        <NavigatedProvider value={navigated}>{isAllowed ? <Outlet /> : <NotAllowed />}</NavigatedProvider>
        {canEdit && <DropAnywhere />}
        {canEdit && <Tour />}
        <Keys />
        <Box h={24} />
      </AppShell.Main>
    </AppShell>
  );
}

function Face() {
  const navigate = useNavigate();
  return (
    // a link of the router would be a second one that is marked as the current page
    <a
      href="/console"
      className="face"
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        void navigate({ to: '/' });
      }}
    >
      <svg viewBox="0 0 32 32" width={24} height={24} aria-hidden="true">
        <rect width="32" height="32" rx="7" className="face-ground" />
        <path d={BRAND.mark} fill="#fff" stroke="#fff" strokeWidth={2.5} strokeLinecap="round" />
      </svg>
      <span className="ellipsis">{consoleName()}</span>
    </a>
  );
}

function NotAllowed() {
  return (
    <Page title="Not allowed">
      <Text>
        Your key may only read datasets and runs. To add some, sign in with a key of the role editor.
      </Text>
    </Page>
  );
}

function PageLink(props: {
  readonly to: (typeof PAGES)[number]['to'];
  readonly label: string;
  readonly icon: IconName;
  readonly onClick: () => void;
}) {
  const { to, label, icon, onClick } = props;
  const isActive = useRouterState({
    select: ({ location }) =>
      location.pathname === to || (to !== '/' && location.pathname.startsWith(`${to}/`)),
  });
  return (
    <NavLink
      component={Link}
      to={to}
      // the start page is not above the others
      activeOptions={{ exact: to === '/' }}
      label={label}
      leftSection={<Icon name={icon} size={18} aria-hidden />}
      active={isActive}
      aria-current={isActive ? 'page' : undefined}
      onClick={onClick}
    />
  );
}

const TourCard = onDemand(
  () => import('../tour/tour-card.tsx'),
  () => null,
);

/** The tour. Its code is loaded for people who have neither taken nor dismissed it. */
function Tour() {
  const { status } = useTour().state;
  return (status === 'new' || status === 'active') && <TourCard />;
}

const Palette = onDemand(
  () => import('./palette.tsx'),
  () => null,
);

const KEYS = [
  [['Ctrl', 'K'], 'Go to a page, a dataset, a run or an item'],
  [['/'], 'Search on this page'],
  [['j'], 'The next row of the list'],
  [['k'], 'The previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Choose the row, in lists with something to do with several'],
  [['e'], 'Edit the open item'],
  [['1', '0'], 'Label the open result as right or wrong; press again to remove the label'],
  [['Home', 'End'], 'The first or last row of the list'],
  [['?'], 'This list of keys'],
] as const;

function Keys() {
  const [isHelpOpen, help] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const search = (): void => document.querySelector<HTMLElement>('[role=search] input')?.focus();
  useHotkeys([
    ['/', search],
    ['shift+?', help.open],
    ['?', help.open],
  ]);
  useHotkeys([['mod+K', palette.open]], []);
  return (
    <>
      <Modal opened={isHelpOpen} onClose={help.close} title="Keys">
        <NameValues
          rows={KEYS.map(([keys, does]) => [
            does,
            <Group key={does} gap={4} wrap="nowrap">
              {keys.map((key) => (
                <Kbd key={key} className="whole">
                  {key}
                </Kbd>
              ))}
            </Group>,
          ])}
        />
      </Modal>
      {isPaletteOpen && <Palette onClose={palette.close} />}
    </>
  );
}

/** Gives the focus to what is nearest where the element that has it is taken from the page: it never falls to the body. */
function useKeepFocus(): void {
  useEffect(() => {
    const leaving = new AbortController();
    let focused: Element | null = null;
    let around: readonly Element[] = [];
    document.addEventListener(
      'focusin',
      ({ target }) => {
        if (!(target instanceof Element)) return;
        focused = target;
        around = [...ancestorsOf(target)];
      },
      { signal: leaving.signal },
    );
    const observer = new MutationObserver(() => {
      if (focused === null || focused.isConnected || document.activeElement !== document.body) return;
      focused = null;
      nearest(around)?.focus({ preventScroll: true });
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      leaving.abort();
    };
  }, []);
}

function* ancestorsOf(element: Element): Generator<Element> {
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) yield parent;
}

const LIST = '[role=grid][tabindex]';

/** A list next to where the focus was, else the heading of the page. */
function nearest(around: readonly Element[]): HTMLElement | null {
  const main = document.querySelector('main');
  for (const element of around) {
    if (element === main) break;
    const list = element.isConnected ? element.querySelector<HTMLElement>(LIST) : null;
    if (list !== null) return list;
  }
  return document.querySelector<HTMLElement>('h1[tabindex]');
}
