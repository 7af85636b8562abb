import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../config/load-config.ts';
import { createLogger } from '../../telemetry/create-logger.ts';
import { createAuthenticator } from './authenticate.ts';
import { type Keys, openKeys } from './keys.ts';

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-keys-'));
  path = join(folder, 'keys.json');
});
afterAll(() => rm(folder, { recursive: true }));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const key = (name: string): string => `key-of-the-tests-${name}`;

/** The keys of a file, whose clock stands still until it is read again. */
async function open(file: unknown, env: Readonly<Record<string, string>> = {}) {
  await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file));
  const lines: string[] = [];
  const logger = createLogger({ service: 'svc-api', level: 'info', write: (line) => void lines.push(line) });
  let now = 0;
  const keys: Keys = openKeys(loadConfig({ SVC_API_KEYS_FILE: path, ...env }), logger, () => now);
  const change = async (to: unknown): Promise<void> => {
    await writeFile(path, typeof to === 'string' ? to : JSON.stringify(to));
    now += 1_000;
  };
  return {
    keys,
    lines,
    change,
    authenticator: createAuthenticator(keys, undefined, () => Date.parse('2027-01-01T00:00:00Z')),
  };
}

it('takes keys or their hashes from a file, with names, ends and handles', async () => {
  const { authenticator, keys } = await open(
    [
      { role: 'admin', key: key('ada'), name: 'Ada', expires: '2027-01-02' },
      {
        role: 'editor',
        key_sha256: sha256(key('ben')).toUpperCase(),
        name: 'Ben',
        handles: ['team-a-', 'shared-'],
      },
      { role: 'viewer', key: key('cleo'), name: null, expires: '2027-01-01' },
      { role: 'viewer', key: key('dan'), expires: '2027-01-01T01:00:00+01:00' },
      { role: 'viewer', key: key('eve'), expires: '2027-01-01T00:00:01Z' },
    ],
    { SVC_API_KEYS: `viewer:${key('first')}` },
  );
  const of = (name: string) => authenticator.byHeader(`Bearer ${key(name)}`);
  expect(keys.isOpen).toBe(false);
  expect(of('ada')).toMatchObject({ role: 'admin', name: 'Ada', handles: null, isExpired: false });
  expect(of('ben')).toMatchObject({ role: 'editor', name: 'Ben', handles: ['team-a-', 'shared-'] });
  expect(of('cleo')).toMatchObject({ role: null, name: 'key 4', isExpired: true, isWrong: false });
  expect(of('dan')).toMatchObject({ role: null, isExpired: true });
  expect(of('eve')).toMatchObject({ role: 'viewer', isExpired: false });
  // The hash itself is no key.
  expect(authenticator.byHeader(`Bearer ${sha256(key('ben'))}`)).toMatchObject({ role: null, isWrong: true });
});

it('reads the file again when it changes, and keeps its keys when it cannot', async () => {
  const { authenticator, keys, lines, change } = await open([
    { role: 'admin', key: key('ada'), name: 'Ada' },
  ]);
  const roleOf = (name: string) => authenticator.byHeader(`Bearer ${key(name)}`).role;
  const { value } = keys.sessions.seal(authenticator.byKey(key('ada')).key ?? '');
  await change([{ role: 'viewer', key: key('ben'), name: 'Ben' }]);
  expect([roleOf('ada'), roleOf('ben')]).toEqual([null, 'viewer']);
  expect(keys.sessions.open(value)).toBeNull();
  for (const faulty of [
    '[',
    '{}',
    [{ role: 'viewer', key: 'short' }],
    [{ role: 'viewer', key: key('x'), colour: 1 }],
  ]) {
    await change(faulty);
    expect([roleOf('ada'), roleOf('ben'), roleOf('x')]).toEqual([null, 'viewer', null]);
  }
  await rm(path);
  await change([]);
  expect(roleOf('ben')).toBe(null);
  expect(keys.isOpen).toBe(false);
  expect(lines.filter((line) => line.includes('keys.fail'))).toHaveLength(4);
  expect(lines.join()).not.toContain(key('x'));
});

it('gives no caller the role of a key that takes the place of its own meanwhile', async () => {
  const { keys: before } = await open([{ role: 'viewer', key: key('a') }]);
  const { keys: after } = await open([{ role: 'admin', key: key('b') }]);
  const looks = [before, after];
  const current: Keys['current'] = () => (looks.shift() ?? after).current();
  const { byKey } = createAuthenticator({ isOpen: false, current }, undefined);
  expect(byKey(key('a')).role).toBe('viewer');
  expect(byKey(key('a')).role).toBe(null);
});

it.each([
  ['no JSON', '[', /must hold JSON$/m],
  ['no array', {}, /must hold a JSON array of keys/],
  [
    'an unknown member',
    [{ role: 'viewer', key: key('a'), expire: '2027-01-01' }],
    /entry 1 must have no member "expire"/,
  ],
  [
    'a key and its hash',
    [{ role: 'viewer', key: key('a'), key_sha256: sha256('a') }],
    /must have a key or its key_sha256/,
  ],
  ['no hash', [{ role: 'viewer', key_sha256: 'abc' }], /must be 64 hexadecimal digits/],
  ['no handles', [{ role: 'viewer', key: key('a'), handles: [] }], /the handles of entry 1 must be 1 to 100/],
  [
    'handles that are no texts',
    [{ role: 'viewer', key: key('a'), handles: [1] }],
    /must be an array of strings/,
  ],
  ['one key twice', [key('a'), key('a')].map((one) => ({ role: 'viewer', key: one })), /has a duplicate key/],
])('refuses to start with %s', async (_, file, message) => {
  await expect(open(file)).rejects.toThrow(message);
});

it('refuses a key that the variable and the file have', async () => {
  const file = [{ role: 'viewer', key: key('a') }];
  await expect(open(file, { SVC_API_KEYS: `admin:${key('a')}` })).rejects.toThrow(/has a duplicate key/);
});
