import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { ConfigError, importLimits, loadConfig } from './load-config.ts';
import { VARIABLES } from './variables.ts';

it('uses the documented defaults when nothing is set, and treats empty as absent', () => {
  const config = loadConfig({ SVC_PORT: '', PATH: '/bin' });
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    dataDir: './data',
    logLevel: 'info',
    hubEndpoint: 'https://huggingface.co',
    maxUploadBytes: 2_147_483_648,
    maxLineBytes: 67_108_864,
    databaseUrl: undefined,
    apiKeys: [],
  });
  expect(config.workerConcurrency).toBeGreaterThan(0);
});

it.each([
  ['SVC_PORT', '99999', /0 to 65535, got "99999"/],
  ['SVC_PORT', '8 080', /whole number/],
  ['DATABASE_DIRECT_URL', 'postgresql://127.0.0.1/svc', /DATABASE_DIRECT_URL needs DATABASE_URL/],
  ['SVC_LOG_LEVEL', 'loud', /error, warn, info, debug, got "loud"/],
  ['SVC_ALLOW_ANONYMOUS', 'yes', /true or false/],
  ['DATABASE_URL', 'mysql://h/db', /postgresql:\/\//],
  ['DATABASE_URL', 'postgresql://h/db?sslmode=no-verify', /must have one of disable, .*, got no-verify/],
  ['DATABASE_URL', 'postgresql://svc:100%@h/db', /have each % of its user and password as %25/],
  ['SVC_PORT_FILE', '/tmp/port', /SVC_PORT_FILE is an unknown environment variable/],
  ['HUB_ENDPOINT', 'ftp://h', /http or https/],
  ['HUB_TOKEN', 'a\nb', /visible ASCII/],
  ['SVC_API_KEYS', 'root:abc', /entry 1 must be viewer/],
  ['SVC_API_KEYS', 'viewer:', /key of entry 1/],
  ['SVC_API_KEYS', 'viewer:fifteen-chars-x', /key of entry 1 must be visible ASCII, 16 to 512/],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-,admin:sixteen-letters-', /duplicate/],
  [
    'SVC_API_KEYS',
    'viewer:sixteen-letters-:Ada:x',
    /entry 1 must be role:key or role:key:name: .* holds no colon/,
  ],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-: ', /the name of entry 1 must be 1 to 64 characters/],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-:a\u0007b', /the name of entry 1 must be 1 to 64 characters/],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-:Key 2', /must not be what callers without a name are called/],
  ['SVC_API_KEYS', 'viewer:sixteen;letters-', /entry 1 must have ;expires=… or ;handles=…/],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-;expire=2027-01-01', /entry 1 must have ;expires=/],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-;expires=2027-02-30', /entry 1 must expire at a date such as/],
  [
    'SVC_API_KEYS',
    'viewer:sixteen-letters-;expires=2027-01-01T10:00',
    /entry 1 must expire at a date such as/,
  ],
  [
    'SVC_API_KEYS',
    'viewer:sixteen-letters-;expires=2027-01-01;expires=2028-01-01',
    /entry 1 must expire once/,
  ],
  [
    'SVC_API_KEYS',
    "viewer:sixteen-letters-;handles=a'b",
    /the handles of entry 1 must be 1 to 100 beginnings/,
  ],
  ['SVC_API_KEYS', 'viewer:sixteen-letters-;handles=', /the handles of entry 1 must be 1 to 100 beginnings/],
  [
    'SVC_API_KEYS',
    'viewer:sixteen-letters-:Ada,editor:sixteen-letters+:Ada;handles=a-',
    /must give all keys of Ada the same handles/,
  ],
  ['SVC_API_KEYS_FILE', '/none', /must name a file that is there/],
  ['SVC_METRICS_KEY', 'fifteen-chars-x', /16 to 512/],
  ['SVC_JOB_KEY', 'fifteen-chars-x', /at least 16/],
  ['SVC_CORS_ORIGINS', '*', /SVC_CORS_ORIGINS \* would give .* set SVC_API_KEYS/],
  ['SVC_CORS_ORIGINS', 'null', /not an origin/],
  ['SVC_ALLOWED_HOSTS', 'https://svc.example', /"https:\/\/svc.example" is not a host/],
  ['SVC_ALLOWED_HOSTS', 'svc.example,*', /"\*" is not a host/],
  ['SVC_ALLOWED_HOSTS', '::1', /is not a host/],
  ['SVC_ALLOWED_HOSTS', 'svc.example:99999', /is not a host/],
  ['SVC_ALLOWED_HOSTS', ':80', /is not a host/],
  ['SVC_TRUST_PROXY', '1', /true or false/],
  ['SVC_CORS_ORIGINS', 'https://a.example/path', /not an origin/],
  ['SVC_MAX_UPLOAD_BYTES', '-1', /whole number/],
  ['SVC_TYPO', '1', /SVC_TYPO is an unknown environment variable/],
])('refuses %s=%j', (name, value, message) => {
  expect(() => loadConfig({ [name]: value })).toThrow(message);
});

it('names every invalid variable in one error, and never the secret', () => {
  const env = { SVC_PORT: 'x', SVC_LOG_LEVEL: 'y', SVC_API_KEYS: 'hunter2' };
  const error = (() => {
    try {
      return loadConfig(env);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).problems).toHaveLength(3);
  expect(String(error)).not.toContain('hunter2');
});

it('allows a non-loopback host only with keys or the explicit variable', () => {
  expect(() => loadConfig({ SVC_HOST: '0.0.0.0' })).toThrow(/SVC_API_KEYS/);
  expect(loadConfig({ SVC_HOST: '0.0.0.0', SVC_ALLOW_ANONYMOUS: 'true' }).host).toBe('0.0.0.0');
  expect(loadConfig({ SVC_HOST: '::', SVC_API_KEYS: 'admin:key-of-the-tests' }).apiKeys[0]?.role).toBe(
    'admin',
  );
  expect(loadConfig({ SVC_HOST: '::1' }).host).toBe('::1');
});

it('accepts names at every port or at one, in any spelling', () => {
  const { allowedHosts } = loadConfig({ SVC_ALLOWED_HOSTS: 'SVC.Example. , api:8080,[0::1]:9464,[::2]' });
  expect(allowedHosts).toEqual([
    { name: 'svc.example', port: undefined },
    { name: 'api', port: 8080 },
    { name: '[::1]', port: 9464 },
    { name: '[::2]', port: undefined },
  ]);
});

it('allows every origin when keys are configured', () => {
  const env = { SVC_CORS_ORIGINS: '*', SVC_API_KEYS: 'viewer:key-of-the-tests' };
  expect(loadConfig(env).corsOrigins).toEqual(['*']);
});

it('ignores the variables of the command line', () => {
  expect(loadConfig({ SVC_API_KEY: 'k', SVC_API_URL: 'http://127.0.0.1:1' }).port).toBe(8080);
});

it('rejects provider keys without origins, and names every invalid variable', () => {
  const env = {
    SVC_PORT: 'x',
    SVC_PROVIDER_ACM: 'planted-key',
    SVC_PROVIDER_ACM_ORIGNS: 'https://acm.example',
    SVC_PROVIDER_ALLOWED_HOSTS: 'https://acm.example',
  };
  expect(() => loadConfig(env)).toThrow(
    expect.objectContaining({
      problems: [
        expect.stringMatching(/^SVC_PORT /),
        expect.stringMatching(/^SVC_PROVIDER_ALLOWED_HOSTS /),
        expect.stringMatching(/^SVC_PROVIDER_ACM has no origins/),
        expect.stringMatching(/^SVC_PROVIDER_ACM_ORIGNS has no origins/),
      ],
      message: expect.not.stringContaining('planted'),
    }),
  );
});

it.each<[string | undefined, readonly string[] | null]>([
  [undefined, null],
  ['*', null],
  ['API.example, [::1]:8000,10.0.0.1:443,host.', ['api.example', '[::1]:8000', '10.0.0.1:443', 'host.']],
])('SVC_PROVIDER_ALLOWED_HOSTS=%j is %j', (text, hosts) => {
  expect(loadConfig({ SVC_PROVIDER_ALLOWED_HOSTS: text }).providerAllowedHosts).toEqual(hosts);
});

it.each([
  'https://a.example',
  'a.example/x',
  'a.example:',
  'a:0',
  'a:99999',
  '::1',
  '*.example',
  'a,,b',
  'u@a',
  'a b',
])('rejects SVC_PROVIDER_ALLOWED_HOSTS=%j', (text) =>
  expect(() => loadConfig({ SVC_PROVIDER_ALLOWED_HOSTS: text })).toThrow(
    /SVC_PROVIDER_ALLOWED_HOSTS must be/,
  ),
);

it('does not print secrets', () => {
  const config = loadConfig({
    SVC_API_KEYS: 'admin:planted-key-of-the-tests',
    HUB_TOKEN: 'planted-token',
    DATABASE_URL: 'postgresql://u:planted-password@h/db',
    SVC_PROVIDER_ACME: 'planted-provider-key',
    SVC_PROVIDER_ACME_ORIGINS: 'https://acme.example',
  });
  for (const text of [JSON.stringify(config), inspect(config, { depth: 9 }), `${config.hubToken}`]) {
    expect(text).not.toContain('planted');
  }
  expect(config.apiKeys[0]?.key.reveal()).toBe('planted-key-of-the-tests');
});

it('takes secrets from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const config = loadConfig({
    SVC_METRICS_KEY_FILE: file('key', 'planted-key-of-the-tests\n'),
    DATABASE_URL_FILE: file('url', 'postgresql://h/db\n'),
    SVC_PROVIDER_OPENAI_FILE: file('openai', 'sk-planted\r\n'),
    HUB_TOKEN_FILE: '',
  });
  expect(config.metricsKey?.reveal()).toBe('planted-key-of-the-tests');
  expect(config.databaseUrl?.reveal()).toBe('postgresql://h/db');
  expect(config.providerKeys['SVC_PROVIDER_OPENAI']?.key.reveal()).toBe('sk-planted');
  expect(() =>
    loadConfig({
      HUB_TOKEN: 'x',
      HUB_TOKEN_FILE: join(folder, 'url'),
      SVC_JOB_KEY_FILE: join(folder, 'none'),
      SVC_METRICS_KEY_FILE: file('empty', ' '),
      DATABASE_DIRECT_URL_FILE: file('long', 'x'.repeat(70_000)),
    }),
  ).toThrow(
    expect.objectContaining({
      problems: [
        'HUB_TOKEN_FILE and HUB_TOKEN are both set: remove one',
        expect.stringMatching(/^SVC_JOB_KEY_FILE cannot be read: ENOENT/),
        expect.stringMatching(/^SVC_METRICS_KEY_FILE names an empty file/),
        'DATABASE_DIRECT_URL_FILE cannot be read: it has more than 65536 bytes',
      ],
    }),
  );
});

it('documents every variable once', () => {
  const names = Object.values(VARIABLES).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { description } of Object.values(VARIABLES)) expect(description).not.toBe('');
});

it('has no limit of rows for SVC_MAX_ROWS=0', () => {
  const rowsOf = (SVC_MAX_ROWS: string): number => importLimits(loadConfig({ SVC_MAX_ROWS })).maxRows;
  expect([rowsOf('0'), rowsOf('7')]).toEqual([Number.POSITIVE_INFINITY, 7]);
});
