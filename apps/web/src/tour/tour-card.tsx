import { ActionIcon, Button, Card, Group, Text, Title } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useExample } from '../datasets/list/use-example.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { IconX } from '../ui/icons.tsx';
import { useTour } from './use-tour.ts';
import { TOUR_STEPS, useTourTelemetry } from './use-tour-telemetry.ts';

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

  useEffect(() => {
    if (!isActive || step === undefined || !step.isDone(path, search)) return;
    go(state.step + 1);
    report('step_viewed');
  }, [isActive, step, path, search, go, report, state.step]);

  if (state.status === 'new')
    return FORMS.includes(path) ? null : (
      <Step
        title="New here?"
        text="A tour of four steps leads from a dataset to its score."
        onDismiss={() => dismiss()}
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
        <Button size="xs" variant="subtle" onClick={() => dismiss()}>
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
      onDismiss={() => dismiss()}
    >
      {step.hasExample === true && example.error !== null && <ErrorView error={example.error} />}
      {step.hasExample === true && (
        <Button size="xs" loading={example.isPending} onClick={() => example.mutate()}>
          Add the example
        </Button>
      )}
      <Button
        size="xs"
        variant={isLast ? 'filled' : 'default'}
        onClick={() => {
          if (isLast) {
            end('completed');
            report('completed');
          } else {
            go(state.step + 1);
            report('step_viewed');
          }
        }}
      >
        {isLast ? 'Done' : 'Skip this step'}
      </Button>
    </Step>
  );

  function dismiss(): void {
    end('dismissed');
    report('dismissed');
  }
}

function Step({
  title,
  text,
  onDismiss,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly onDismiss: () => void;
  readonly children: React.ReactNode;
}) {
  return (
    <Card component="aside" className="tour" withBorder shadow="md" padding="sm" aria-label="Tour">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h6">
          {title}
        </Title>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Dismiss the tour" onClick={onDismiss}>
          <IconX size={14} />
        </ActionIcon>
      </Group>
      <Text size="sm" my="xs">
        {text}
      </Text>
      <Group gap="xs">{children}</Group>
    </Card>
  );
}
