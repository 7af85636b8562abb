import { ActionIcon, Button, Card, Group, Text, Title } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { send } from '../api/api.ts';
import { useExample } from '../datasets/list/ways-in.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorView } from '../ui/query-state.tsx';
import { useTelemetryConsent, useTour } from './use-tour.ts';

/** Pages with a form, which the invitation would cover. */
const FORMS: readonly string[] = ['/upload', '/import', '/runs/new'];

/** A card in the corner that leads first-time users from a dataset to a score. It can be dismissed for good. */
export default function TourCard() {
  const { state, go, end } = useTour();
  const report = useTourTelemetry();
  const example = useExample();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const search = useRouterState({
    select: ({ location }) => location.search as Readonly<Record<string, unknown>>,
  });
  const isActive = state.status === 'active';
  const step = TOUR_STEPS[state.step];

  const next = (): void => {
    go(state.step + 1);
    report('step_viewed');
  };

  useEffect(() => {
    if (isActive && step?.isDone(path, search) === true) next();
  });

  const leave = (status: 'dismissed' | 'completed') => (): void => {
    end(status);
    report(status);
  };
  if (state.status === 'new')
    return FORMS.includes(path) ? null : (
      <Step
        title="New here?"
        text="A tour of four steps leads from a dataset to its score."
        onDismiss={leave('dismissed')}
      >
        <Button
          size="xs"
          onClick={() => {
            go(0);
            report('started');
          }}
        >
          Take the tour
        </Button>
        <Button size="xs" variant="subtle" onClick={leave('dismissed')}>
          No, thanks
        </Button>
      </Step>
    );
  if (!isActive || step === undefined) return null;
  const isLast = state.step === TOUR_STEPS.length - 1;
  return (
    <Step
      title={`${state.step + 1} of ${TOUR_STEPS.length}: ${step.title}`}
      text={step.text}
      onDismiss={leave('dismissed')}
    >
      {step.hasExample === true && example.error !== null && <ErrorView error={example.error} />}
      {step.hasExample === true && (
        <Button size="xs" loading={example.isPending} onClick={() => example.mutate()}>
          Add the example
        </Button>
      )}
      <Button size="xs" variant={isLast ? 'filled' : 'default'} onClick={isLast ? leave('completed') : next}>
        {isLast ? 'Done' : 'Skip this step'}
      </Button>
    </Step>
  );
}

function Step(props: {
  readonly title: string;
  readonly text: string;
  readonly onDismiss: () => void;
  readonly children: React.ReactNode;
}) {
  const { title, text, onDismiss, children } = props;
  return (
    <Card component="aside" className="tour" withBorder shadow="md" padding="sm" aria-label="Tour">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h6">
          {title}
        </Title>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Dismiss the tour" onClick={onDismiss}>
          <Icon name="x" size={14} />
        </ActionIcon>
      </Group>
      <Text size="sm" my="xs">
        {text}
      </Text>
      <Group gap="xs">{children}</Group>
    </Card>
  );
}

type Lifecycle = 'started' | 'step_viewed' | 'completed' | 'dismissed';

/** Version 4 of UUIDs; `crypto.randomUUID` is missing where a page came over plain HTTP. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Reports the steps of the tour to this service, only while the user of this browser consents; else sends nothing. */
function useTourTelemetry(): (lifecycle: Lifecycle) => void {
  const [consents] = useTelemetryConsent();
  const session = useRef<string | null>(null);
  // the page, without the ids in its address
  const route = useRouterState({
    select: ({ location }) => `/console${location.pathname.replace(/[0-9a-f-]{36}/, ':id')}`,
  });
  return (lifecycle) => {
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
  };
}

interface TourStep {
  readonly title: string;
  readonly text: string;
  readonly hasExample?: boolean;
  /** Whether an address belongs to the next step: the tour then continues by itself. */
  readonly isDone: (path: string, search: Readonly<Record<string, unknown>>) => boolean;
}

const TOUR_STEPS: readonly TourStep[] = [
  {
    title: 'Get a dataset',
    text: 'Press “Add the example”, or open an existing dataset. A dataset is a list of items: what a model is given, and what is expected.',
    hasExample: true,
    isDone: (path) => /^\/datasets\/[0-9a-f-]{36}$/.test(path),
  },
  {
    title: 'Look at an item',
    text: 'Choose an item from the list. The arrow keys move through it. “Exact JSON” shows it with every digit.',
    isDone: (path, search) => path.startsWith('/datasets/') && search['item'] !== undefined,
  },
  {
    title: 'Run it',
    text: 'Press “New run”, choose “Answers in the items”, and start it: it needs no model and no key. The items of the example hold what a pretend model said, which makes mistakes.',
    isDone: (path) => /^\/runs\/[0-9a-f-]{36}$/.test(path),
  },
  {
    title: 'See the score',
    text: 'The page follows the run. Below the score are the results: choose one with a red cross to see what was expected, what the model said, and why it is wrong.',
    isDone: () => false,
  },
];

const TOUR_VERSION = '1';
