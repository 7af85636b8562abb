import {
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  Stack,
  Switch,
  useMantineColorScheme,
} from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, get, send } from '../api/api.ts';
import { sessionKey, useCan, useSession } from '../session/session.tsx';
import { useTelemetryConsent, useTour } from '../tour/use-tour.ts';
import { SmallButton } from '../ui/buttons.tsx';
import { NameValues } from '../ui/layout/name-values.tsx';
import { useNotify } from '../ui/layout/notices.tsx';
import { Page, Part } from '../ui/layout/page.tsx';
import { ErrorView, QueryState } from '../ui/query-state.tsx';
import { changeShowsImages, showsImages } from '../ui/remote-images.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatTime } from '../ui/text/formats.ts';

type Settings = ResponseOf<'/settings', 'get'>;

const MIN_INTERVAL_MS = 250;
const MAX_INTERVAL_MS = 60_000;

export default function SettingsPage() {
  const found = useQuery({ queryKey: ['settings'], queryFn: () => get('/settings', {}) });
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const tour = useTour();
  const canEdit = useCan('editor');
  return (
    <Page title="Settings">
      <Stack gap="xl" maw={640}>
        <Part title="Theme">
          <SegmentedControl
            aria-label="Theme"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as typeof colorScheme)}
            data={[
              { value: 'auto', label: 'System' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
          />
        </Part>
        <Part title="Images of other hosts">
          <Switch
            label="Show images that data name by https addresses"
            description="For this browser alone: it then asks their hosts, on every page. The page loads again."
            checked={showsImages()}
            onChange={(event) => changeShowsImages(event.currentTarget.checked)}
          />
        </Part>
        <QueryState query={found} rows={3} />
        {found.data !== undefined && (
          <ServiceSettings key={JSON.stringify(found.data)} settings={found.data} />
        )}
        {found.data !== undefined && <TelemetryPart isForbidden={found.data.telemetry === 'off'} />}
        <SessionPart />
        {canEdit && (
          <Part title="Tour">
            <SmallButton label="Take the tour again" onClick={tour.restart} />
          </Part>
        )}
      </Stack>
    </Page>
  );
}

function ServiceSettings({ settings }: { readonly settings: Settings }) {
  const queries = useQueryClient();
  const notify = useNotify();
  const canChange = useCan('admin');
  const [intervalMs, setIntervalMs] = useState<number | string>(settings.cancellation_check_interval_ms);
  const save = useMutation({
    mutationFn: (body: Pick<Settings, 'cancellation_check_interval_ms'>) =>
      send('patch', '/settings', {}, body),
    onSuccess: (next) => {
      queries.setQueryData(['settings'], next);
      notify('Saved.');
    },
  });
  const isValid = Number(intervalMs) >= MIN_INTERVAL_MS && Number(intervalMs) <= MAX_INTERVAL_MS;
  return (
    <>
      <Part title="Runs">
        <Group align="flex-end">
          <NumberInput
            label="Cancellation check interval, in milliseconds"
            description={`How often a worker asks whether a run was cancelled: ${MIN_INTERVAL_MS} to ${MAX_INTERVAL_MS}.`}
            min={MIN_INTERVAL_MS}
            max={MAX_INTERVAL_MS}
            step={250}
            allowDecimal={false}
            value={intervalMs}
            onChange={setIntervalMs}
            error={isValid ? undefined : `Between ${MIN_INTERVAL_MS} and ${MAX_INTERVAL_MS}.`}
            disabled={!canChange}
          />
          {canChange && (
            <Button
              variant="default"
              disabled={!isValid || Number(intervalMs) === settings.cancellation_check_interval_ms}
              loading={save.isPending}
              onClick={() => save.mutate({ cancellation_check_interval_ms: Number(intervalMs) })}
            >
              Save
            </Button>
          )}
        </Group>
      </Part>
      {save.error !== null && <ErrorView error={save.error} />}
    </>
  );
}

function SessionPart() {
  const queries = useQueryClient();
  const session = useSession();
  const about = useQuery({
    queryKey: ['about'],
    queryFn: async () =>
      (await dataOf(api.GET('/', { headers: { Accept: 'application/json' } }))) as {
        readonly version?: string;
      },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const end = useMutation({
    mutationFn: () => send('delete', '/session', {}),
    onSuccess: async () => {
      // the next user may not read all of it
      queries.removeQueries({ type: 'inactive' });
      await queries.resetQueries({ queryKey: sessionKey });
    },
  });
  return (
    <Part title="Session">
      <NameValues
        variant="vertical"
        rows={[
          ['Key', session.anonymous ? 'none: this service needs no key' : 'a key of this service'],
          ['Role', session.role],
          ...(session.expires_at === null ? [] : [['Ends', formatTime(session.expires_at)] as const]),
          ['Version', about.data?.version ?? '…'],
        ]}
      />
      {!session.anonymous && (
        <SmallButton label="Sign out" mt="sm" loading={end.isPending} onClick={() => end.mutate()} />
      )}
    </Part>
  );
}

/** The switch of this browser: any user has it, and it is for nobody else. */
function TelemetryPart({ isForbidden }: { readonly isForbidden: boolean }) {
  const [consents, change] = useTelemetryConsent();
  return (
    <Part title="Onboarding telemetry">
      <Switch
        label="Log my steps of the tour in this installation"
        description={
          isForbidden
            ? 'The operator of this service has switched telemetry off for everybody (SVC_TELEMETRY).'
            : 'For this browser alone.'
        }
        checked={consents && !isForbidden}
        disabled={isForbidden}
        onChange={(event) => change(event.currentTarget.checked)}
      />
      <Dimmed mt={6}>
        Off by default. While it is on, the tour sends five fields to this service: <code>lifecycle</code>{' '}
        (started, step_viewed, completed or dismissed), <code>route</code> (the page, without what is in its
        address), <code>time_zone</code>, <code>tutorial_version</code> and <code>anonymous_session_id</code>{' '}
        (random, new for each tour), and that you consent. They are written to its log. Nothing leaves this
        installation.
      </Dimmed>
    </Part>
  );
}
