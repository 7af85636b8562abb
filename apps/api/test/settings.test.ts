import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../prisma/test/query-database.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

async function send(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const setTelemetry = (enabled: boolean): Promise<unknown> =>
  send('PATCH', '/settings', { onboarding_telemetry_enabled: enabled });

describe('the settings', () => {
  it('have the defaults of the contract, and change one by one', async () => {
    const defaults = { cancellation_check_interval_ms: 2000, onboarding_telemetry_enabled: false };
    expect(await send('GET', '/settings')).toEqual({ status: 200, body: defaults });
    const changed = { ...defaults, cancellation_check_interval_ms: 250 };
    expect(await send('PATCH', '/settings', { cancellation_check_interval_ms: 250 })).toEqual({
      status: 200,
      body: changed,
    });
    expect((await send('GET', '/settings')).body).toEqual(changed);
    expect(api.log().find(({ event }) => event === 'settings.update')).toMatchObject({
      changed: { cancellation_check_interval_ms: 250 },
    });
  });

  it.each([
    [{}],
    [{ cancellation_check_interval_ms: 249 }],
    [{ cancellation_check_interval_ms: 60_001 }],
    [{ cancellation_check_interval_ms: '2000' }],
    [{ onboarding_telemetry_enabled: 'true' }],
    [{ onboarding_telemetry_enabled: null }],
    [{ anything_else: 1 }],
    [[]],
  ])('refuse %j', async (changes) => {
    const before = (await send('GET', '/settings')).body;
    expect(await send('PATCH', '/settings', changes)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    expect((await send('GET', '/settings')).body).toEqual(before);
  });
});

describe('onboarding telemetry', () => {
  const event = {
    lifecycle: 'step_viewed',
    route: '/datasets/import',
    time_zone: 'Europe/Vienna',
    tutorial_version: '2.1',
    anonymous_session_id: randomUUID(),
  };
  const received = (): Record<string, unknown>[] =>
    api.log().filter((line) => line['event'] === 'onboarding_telemetry.received');

  describe('while it is on', () => {
    beforeEach(() => setTelemetry(true));

    it.each(['started', 'step_viewed', 'completed', 'dismissed'])(
      'is logged with exactly its fields: %s',
      async (lifecycle) => {
        const before = received().length;
        expect(await send('POST', '/telemetry/onboarding', { ...event, lifecycle })).toEqual({
          status: 202,
          body: { accepted: true },
        });
        expect(received()).toHaveLength(before + 1);
        const {
          timestamp: _1,
          level: _2,
          service: _3,
          event: _4,
          request_id: _5,
          ...fields
        } = received().at(-1) ?? {};
        expect(fields).toEqual({ ...event, lifecycle });
      },
    );

    it.each([
      ['an unknown field', { prompt: 'What is the capital of France?' }],
      ['a route with a query', { route: '/datasets?q=secret' }],
      ['a route with a fragment', { route: '/datasets#x' }],
      ['a route of another page', { route: 'https://example.org/datasets' }],
      ['a route on another host', { route: '//example.org/datasets' }],
      ['a text as route', { route: 'What is the capital of France?' }],
      ['a text after a slash', { route: '/What is the capital of France?' }],
      ['a text as version', { tutorial_version: 'What is the capital of France?' }],
      ['a text as time zone', { time_zone: 'What is the capital of France?' }],
      ['an offset as time zone', { time_zone: '+01:00' }],
      ['a zone that there is not', { time_zone: 'Europe/Nowhere' }],
      ['a text as session', { anonymous_session_id: 'What is the capital of France?' }],
      ['a lifecycle that there is not', { lifecycle: 'asked' }],
      ['an object', { route: { path: '/' } }],
      ['a missing field', { lifecycle: undefined }],
    ])('refuses %s', async (_name, changes) => {
      const before = received().length;
      const answer = await send('POST', '/telemetry/onboarding', { ...event, ...changes });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      expect(received()).toHaveLength(before);
    });
  });

  it('is neither logged nor kept while it is off', async () => {
    await setTelemetry(false);
    const before = received().length;
    expect(await send('POST', '/telemetry/onboarding', event)).toEqual({
      status: 202,
      body: { accepted: false },
    });
    expect(received()).toHaveLength(before);
  });

  it('is kept nowhere', async () => {
    const tables = await queryDatabase(
      api.databaseUrl,
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    for (const { name } of tables) {
      const rows = await queryDatabase(api.databaseUrl, `SELECT t::text FROM ${name} t`);
      expect(JSON.stringify(rows)).not.toContain(event.anonymous_session_id);
    }
  });

  it('answers what cannot be read with 400 also while it is off', async () => {
    await setTelemetry(false);
    const answer = await send('POST', '/telemetry/onboarding', { ...event, prompt: 'x' });
    expect(answer.status).toBe(400);
  });
});
