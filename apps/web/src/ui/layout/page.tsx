import { Box, Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dimmed } from '../text/dimmed.ts';
import { useNavigated } from './navigated.ts';

/** A page: its title, what can be done with the whole of it, and its content. */
export function Page({
  title,
  subtitle,
  actions,
  children,
}: {
  readonly title: string;
  readonly subtitle?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  const heading = useRef<HTMLHeadingElement>(null);
  const navigated = useNavigated();
  useEffect(() => {
    // a dialog keeps the focus
    if (navigated !== null && document.querySelector('[role=dialog]') === null)
      heading.current?.focus({ preventScroll: true });
  }, [navigated]);
  return (
    <Stack gap="md" maw={1600} mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} flex="1 1 280px">
          <Title ref={heading} order={1} size="h3" className="break page-title" dir="auto" tabIndex={-1}>
            {title}
          </Title>
          {subtitle !== undefined && (
            <Dimmed component="div" className="break">
              {subtitle}
            </Dimmed>
          )}
        </Box>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
