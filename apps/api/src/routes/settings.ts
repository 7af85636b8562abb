import type { Logger } from '@svc/instrumentation';
import { json, type Route, type Schema } from '@svc/runtime';
import type { Store } from '@svc/store';
import { record } from './docs/record.ts';

const RECORD = record<Awaited<ReturnType<Store['settings']['get']>>>({
  cancellation_check_interval_ms: { type: 'integer', minimum: 250, maximum: 60_000 },
  onboarding_telemetry_enabled: { type: 'boolean' },
});

export const SETTINGS: Schema = RECORD.schema;

/** Settings that an operator can change at run time; they apply to all processes on the database. */
export function settingsRoutes({
  store,
  logger,
}: {
  readonly store: Pick<Store, 'settings'>;
  readonly logger: Logger;
}): readonly Route[] {
  const common = {
    path: '/settings',
    tag: 'settings',
    produces: 'application/json',
    responses: { 200: { description: 'the settings', schema: SETTINGS } },
  } as const;
  return [
    {
      ...common,
      method: 'get',
      operationId: 'getSettings',
      summary: 'The settings',
      access: 'viewer',
      errors: ['unavailable'],
      handle: async () => json(RECORD.toBody(await store.settings.get())),
    },
    {
      ...common,
      method: 'patch',
      operationId: 'updateSettings',
      summary: 'Change settings; they take effect without a restart',
      access: 'admin',
      body: {
        contentType: 'application/json',
        schema: { type: 'object', properties: RECORD.members, additionalProperties: false, minProperties: 1 },
      },
      errors: ['unavailable'],
      handle: async ({ body: changes }) => {
        const settings = await store.settings.update({
          ...(changes['cancellation_check_interval_ms'] === undefined
            ? {}
            : { cancellationCheckIntervalMs: changes['cancellation_check_interval_ms'] as number }),
          ...(changes['onboarding_telemetry_enabled'] === undefined
            ? {}
            : { onboardingTelemetryEnabled: changes['onboarding_telemetry_enabled'] as boolean }),
        });
        logger.log('settings.update', { changed: changes as Record<string, boolean | number> });
        return json(RECORD.toBody(settings));
      },
    },
  ];
}
