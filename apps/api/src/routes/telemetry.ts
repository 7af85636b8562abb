import type { Logger } from '@svc/instrumentation';
import { invalidRequest, json, jsonBody, type Route, shape } from '@svc/runtime';
import type { Store } from '@svc/store';

/** The path of a page: no host, no query, no fragment, no text. */
const PATH =
  "^/(?:(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|/)*)?$";

/**
 * `POST /telemetry/onboarding`: accepted and logged only while the setting is on. Nothing is stored or sent anywhere;
 * unknown keys are errors.
 */
export function telemetryRoute({
  store,
  logger,
}: {
  readonly store: Pick<Store, 'settings'>;
  readonly logger: Logger;
}): Route {
  return {
    method: 'post',
    path: '/telemetry/onboarding',
    operationId: 'sendOnboardingTelemetry',
    summary: 'Report a step of the onboarding',
    tag: 'settings',
    access: 'editor',
    body: jsonBody(
      {
        lifecycle: { enum: ['started', 'step_viewed', 'completed', 'dismissed'], type: 'string' },
        route: {
          type: 'string',
          maxLength: 200,
          pattern: PATH,
          'x-rule': 'must be the path of a page without query',
        },
        time_zone: { type: 'string', maxLength: 64 },
        tutorial_version: {
          type: ['string', 'integer'],
          maxLength: 32,
          pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]*$',
          'x-rule': 'must be a version such as 1.0',
        },
        anonymous_session_id: { type: 'string', format: 'uuid' },
      },
      ['lifecycle', 'route', 'time_zone', 'tutorial_version', 'anonymous_session_id'],
    ),
    produces: 'application/json',
    responses: {
      202: {
        description: 'true in `accepted` if the event was logged',
        schema: shape({ accepted: { type: 'boolean' } }),
      },
    },
    errors: ['unavailable'],
    handle: async ({ body }) => {
      const event = body as unknown as {
        lifecycle: string;
        route: string;
        time_zone: string;
        tutorial_version: string | number;
        anonymous_session_id: string;
      };
      if (!isTimeZone(event.time_zone)) {
        throw invalidRequest(
          '/time_zone',
          'time_zone must be the name of a time zone, such as Europe/Vienna.',
        );
      }
      const { onboardingTelemetryEnabled: accepted } = await store.settings.get();
      if (accepted) logger.log('onboarding_telemetry.received', event);
      return json({ accepted }, 202);
    },
  };
}

/** Whether this is a name of the IANA time zone database; offsets such as `+01:00` are not. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
