import { Switch } from '@mantine/core';
import { useTelemetryConsent } from '../tour/use-tour-telemetry.ts';
import { Part } from '../ui/layout/part.tsx';
import { changeShowsImages, showsImages } from '../ui/remote-images/shows-images.ts';
import { Dimmed } from '../ui/text/dimmed.ts';

/** Whether this browser shows images of other hosts. */
export function ImagesPart() {
  return (
    <Part title="Images of other hosts">
      <Switch
        label="Show images that data name by https addresses"
        description="For this browser alone: it then asks their hosts, on every page. The page loads again."
        checked={showsImages()}
        onChange={(event) => changeShowsImages(event.currentTarget.checked)}
      />
    </Part>
  );
}

/** The switch of this browser: any user has it, and it is for nobody else. */
export function TelemetryPart({ isForbidden }: { readonly isForbidden: boolean }) {
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
