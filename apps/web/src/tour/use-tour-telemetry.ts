import { useLocalStorage } from '@mantine/hooks';
import { useRouterState } from '@tanstack/react-router';
import { useCallback, useRef } from 'react';
import { send } from '../api/send.ts';

type Lifecycle = 'started' | 'step_viewed' | 'completed' | 'dismissed';

/** Version 4 of UUIDs; `crypto.randomUUID` is missing where a page came over plain HTTP. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Whether the user of this browser has switched telemetry on; only they can. The browser keeps it. */
export function useTelemetryConsent(): readonly [consents: boolean, change: (consents: boolean) => void] {
  const [consents, change] = useLocalStorage({
    key: 'svc.telemetry',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return [consents === true, change];
}

/** Reports the steps of the tour to this service, only while the user of this browser consents; else sends nothing. */
export function useTourTelemetry(): (lifecycle: Lifecycle) => void {
  const [consents] = useTelemetryConsent();
  const session = useRef<string | null>(null);
  // the page, without the ids in its address
  const route = useRouterState({
    select: ({ location }) => `/console${location.pathname.replace(/[0-9a-f-]{36}/, ':id')}`,
  });
  return useCallback(
    (lifecycle) => {
      if (!consents) return;
      if (lifecycle === 'started' || session.current === null) session.current = randomId();
      const body = {
        consent: true as const,
        lifecycle,
        route,
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        tutorial_version: TOUR_VERSION,
        anonymous_session_id: session.current,
      };
      // the tour continues after a failure
      void send('post', '/telemetry/onboarding', {}, body).catch(() => undefined);
    },
    [consents, route],
  );
}

/** A step of the tour. */
interface TourStep {
  readonly title: string;
  readonly text: string;
  /** The page on which it is shown; an address that begins so. */
  readonly route: string;
  /** Whether it offers to add the example. */
  readonly hasExample?: boolean;
  /** Whether an address belongs to the next step: the tour then continues by itself. */
  readonly isDone: (path: string, search: Readonly<Record<string, unknown>>) => boolean;
}

/** Upload the example, look at an item, run it, see the score. */
export const TOUR_STEPS: readonly TourStep[] = [
  {
    title: 'Get a dataset',
    text: 'Press “Add the example”, or open an existing dataset. A dataset is a list of items: what a model is given, and what is expected.',
    route: '/datasets',
    hasExample: true,
    isDone: (path) => /^\/datasets\/[0-9a-f-]{36}$/.test(path),
  },
  {
    title: 'Look at an item',
    text: 'Choose an item from the list. The arrow keys move through it. “Exact JSON” shows it with every digit.',
    route: '/datasets',
    isDone: (path, search) => path.startsWith('/datasets/') && search['item'] !== undefined,
  },
  {
    title: 'Run it',
    text: 'Press “New run”, choose “Answers in the items”, and start it: it needs no model and no key. The items of the example hold what a pretend model said, which makes mistakes.',
    route: '/datasets',
    isDone: (path) => /^\/runs\/[0-9a-f-]{36}$/.test(path),
  },
  {
    title: 'See the score',
    text: 'The page follows the run. Below the score are the results: choose one with a red cross to see what was expected, what the model said, and why it is wrong.',
    route: '/runs',
    isDone: () => false,
  },
];

const TOUR_VERSION = '1';
