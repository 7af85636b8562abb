import { invalidRequest, json, jsonBody, RequestError, type Route, shape } from '@svc/service';
import type { RouteDeps } from './deps.ts';

/** The path of a page: no host, no query, no fragment, no text. */
const PATH =
  "^/(?:(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|/)*)?$";

/**
 * `POST /telemetry/onboarding`: logs a step of the tour for a browser user who consents, unless the operator refuses all.
 * Nothing is stored or sent anywhere; unknown keys are errors.
 */
export function telemetryRoute({ config, logger }: RouteDeps): Route {
  return {
    method: 'post',
    path: '/telemetry/onboarding',
    operationId: 'sendOnboardingTelemetry',
    summary: 'Report a step of the onboarding, with the consent of the browser user',
    tag: 'settings',
    access: 'viewer',
    isAnonymous: true,
    body: jsonBody(
      {
        consent: {
          type: 'boolean',
          enum: [true],
          description: 'the browser user has switched telemetry on; nobody can for others',
        },
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
      ['consent', 'lifecycle', 'route', 'time_zone', 'tutorial_version', 'anonymous_session_id'],
    ),
    produces: 'application/json',
    responses: {
      202: {
        description: 'the event was logged',
        schema: shape({ accepted: { type: 'boolean', enum: [true] } }),
      },
    },
    errors: [],
    handle: async ({ body }) => {
      if (config.telemetry === 'off') {
        throw new RequestError('forbidden', 'This service takes no telemetry: SVC_TELEMETRY is off.');
      }
      const { consent: _, ...event } = body as unknown as {
        consent: true;
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
      logger.log('onboarding_telemetry.received', event);
      return json({ accepted: true }, 202);
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
