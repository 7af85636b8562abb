import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
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

describe('the settings', () => {
  it('have the defaults of the contract, and change one by one', async () => {
    const defaults = { cancellation_check_interval_ms: 2000, telemetry: 'opt-in' };
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
    // nobody switches telemetry on for others
    [{ onboarding_telemetry_enabled: true }],
    [{ onboarding_telemetry_enabled: false }],
    [{ telemetry: 'opt-in' }],
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
    consent: true,
    lifecycle: 'step_viewed',
    route: '/datasets/import',
    time_zone: 'Europe/Vienna',
    tutorial_version: '2.1',
    anonymous_session_id: randomUUID(),
  };
  const received = (): Record<string, unknown>[] =>
    api.log().filter((line) => line['event'] === 'onboarding_telemetry.received');

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
        // never the name of a key
        actor,
        ...fields
      } = received().at(-1) ?? {};
      const { consent: _6, ...sent } = event;
      expect({ actor, fields }).toEqual({ actor: 'anonymous', fields: { ...sent, lifecycle } });
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
    ['no consent', { consent: undefined }],
    ['refused consent', { consent: false }],
    ['consent that is a text', { consent: 'true' }],
  ])('refuses %s', async (_name, changes) => {
    const before = received().length;
    const answer = await send('POST', '/telemetry/onboarding', { ...event, ...changes });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
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

  it('is taken from any role, and from nobody where the operator forbids it', async () => {
    for (const [telemetry, status] of [
      ['opt-in', 202],
      ['off', 403],
    ] as const) {
      const keys = ['viewer', 'editor', 'admin'].map((role) => `${role}:a-key-for-the-${role}`);
      await using other = await startTestApi({ SVC_TELEMETRY: telemetry, SVC_API_KEYS: keys.join(',') });
      for (const role of ['viewer', 'editor', 'admin']) {
        const headers = {
          authorization: `Bearer a-key-for-the-${role}`,
          'content-type': 'application/json',
        };
        const answer = await fetch(`${other.url}/telemetry/onboarding`, {
          ...{ method: 'POST', headers, body: JSON.stringify(event) },
        });
        expect([role, answer.status]).toEqual([role, status]);
        const settings = await fetch(`${other.url}/settings`, { headers });
        expect(await settings.json()).toMatchObject({ telemetry });
      }
      expect(other.log().filter((line) => line['event'] === 'onboarding_telemetry.received')).toHaveLength(
        status === 202 ? 3 : 0,
      );
    }
  });
});
