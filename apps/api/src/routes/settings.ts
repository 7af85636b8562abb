import { json, notVisible, type Route, type Schema, shape } from '@svc/service';
import type { Store } from '@svc/store';
import type { RouteDeps } from './deps.ts';
import { record } from './docs/members.ts';

const RECORD = record<Awaited<ReturnType<Store['settings']['get']>>>({
  cancellation_check_interval_ms: { type: 'integer', minimum: 250, maximum: 60_000 },
});

const TELEMETRY: Schema = {
  type: 'string',
  enum: ['opt-in', 'off'],
  description:
    '`off` if the operator refuses all events of the tour (`SVC_TELEMETRY`); no request changes it',
};

export const SETTINGS: Schema = shape({ ...RECORD.members, telemetry: TELEMETRY });

/** Settings that an operator can change at run time; they apply to all processes on the database. */
export function settingsRoutes({ config, store, logger }: RouteDeps): readonly Route[] {
  const common = {
    path: '/settings',
    tag: 'settings',
    produces: 'application/json',
    responses: { 200: { description: 'the settings', schema: SETTINGS } },
  } as const;
  const body = (settings: Awaited<ReturnType<Store['settings']['get']>>) =>
    json({ ...RECORD.toBody(settings), telemetry: config.telemetry });
  return [
    {
      ...common,
      method: 'get',
      operationId: 'getSettings',
      summary: 'The settings',
      access: 'viewer',
      errors: ['unavailable'],
      handle: async () => body(await store.settings.get()),
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
      errors: ['not_found', 'unavailable'],
      handle: async ({ body: changes, caller }) => {
        // They are of no dataset.
        if (caller.handles !== null) throw notVisible();
        const settings = await store.settings.update({
          ...(changes['cancellation_check_interval_ms'] === undefined
            ? {}
            : { cancellationCheckIntervalMs: changes['cancellation_check_interval_ms'] as number }),
        });
        logger.log('settings.update', { changed: changes as Record<string, number> });
        return body(settings);
      },
    },
  ];
}
