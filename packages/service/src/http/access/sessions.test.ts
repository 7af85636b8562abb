import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ApiKey } from '../../config/api-keys.ts';
import { deriveKey, openText, Secret, sealText } from '../../secrets/secret.ts';
import {
  createSessions,
  keyId,
  MAX_SESSION_SECONDS,
  SESSION_COOKIE,
  SESSION_SECONDS,
  type Sessions,
} from './keys.ts';

const facts = { isHash: false, name: null, expiresAt: null, handles: null } as const;
const viewer: ApiKey = { ...facts, role: 'viewer', key: new Secret('see-key-of-the-tests-1') };
const admin: ApiKey = { ...facts, role: 'admin', key: new Secret('all-key-of-the-tests-1') };

const sessionsOf = (keys: readonly ApiKey[], now?: () => number, secret = 'of an instance'): Sessions =>
  createSessions(() => keys, secret, now);

describe('sessions', () => {
  it('are accepted by every instance with their key until they end, and by no other', () => {
    let now = 1_000_000;
    const clock = (): number => now;
    const { value, expiresAt } = sessionsOf([viewer, admin], clock).seal(keyId(admin));
    expect(expiresAt.getTime()).toBe(now + SESSION_SECONDS * 1000);
    const other = sessionsOf([admin], clock);
    expect(other.open(value)).toMatchObject({ key: keyId(admin), expiresAt, isDue: false });
    now += 6 * 60_000;
    expect(other.open(value)).toMatchObject({ isDue: true });
    expect(sessionsOf([viewer], clock).open(value)).toBeNull();
    expect(sessionsOf([], clock).open(value)).toBeNull();
    const demoted = { ...admin, role: 'viewer' } as const;
    expect(sessionsOf([demoted], clock).open(value)).toBeNull();
    now = expiresAt.getTime();
    expect(other.open(value)).toBeNull();
  });

  it('end after seven days, however often they are used', () => {
    let now = 1_000_000;
    const sessions = sessionsOf([admin], () => now);
    let { value } = sessions.seal(keyId(admin));
    let renewals = 0;
    for (let hours = 1; hours < 7 * 24; hours += 1) {
      now = 1_000_000 + hours * 3_600_000;
      const session = sessions.open(value);
      if (session === null) throw new Error(`The session ended after ${hours} hours.`);
      expect(session.endsAt.getTime()).toBe(1_000_000 + MAX_SESSION_SECONDS * 1000);
      expect(session.expiresAt.getTime()).toBeLessThanOrEqual(session.endsAt.getTime());
      if (!session.isDue) continue;
      value = sessions.seal(session.key, session.endsAt).value;
      renewals += 1;
    }
    // In its last hours, a renewal would give it no more time.
    expect(renewals).toBe(7 * 24 - 12);
    const end = new Date(1_000_000 + MAX_SESSION_SECONDS * 1000);
    expect(sessions.seal(keyId(admin), end).expiresAt).toEqual(end);
    now = end.getTime();
    expect(sessions.open(value)).toBeNull();
  });

  it('of an older version, which has no last moment, has ended', () => {
    const sessions = sessionsOf([admin]);
    const key = deriveKey(admin.key.reveal(), 'svc session v1');
    const { value } = sessions.seal(keyId(admin));
    const { ends_at: _, ...older } = JSON.parse(openText(key, SESSION_COOKIE, value) ?? '');
    expect(sessions.open(sealText(key, SESSION_COOKIE, JSON.stringify(older)))).toBeNull();
  });

  it('cannot be changed, forged or read, and say nothing of their key', () => {
    const sessions = sessionsOf([viewer, admin]);
    const { value } = sessions.seal(keyId(viewer));
    expect(sessions.seal(keyId(viewer)).value).not.toBe(value);
    expect(Buffer.from(value.slice(3), 'base64url').toString('latin1')).not.toMatch(/viewer|see-key/);
    const bytes = Buffer.from(value.slice(3), 'base64url');
    for (let at = 0; at < bytes.byteLength; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(sessions.open(`v1.${changed.toString('base64url')}`)).toBeNull();
      expect(sessions.open(`v1.${bytes.subarray(0, at).toString('base64url')}`)).toBeNull();
    }
    for (const text of ['', 'v1', 'v1.', 'v2.x', `v1.${'A'.repeat(10_000)}`])
      expect(sessions.open(text)).toBeNull();
    expect(() => sessions.seal('none')).toThrow(RangeError);
  });

  it('of a key that is known by its hash cannot be made with the hash', () => {
    const key = new Secret(createHash('sha256').update(admin.key.reveal()).digest('hex'));
    const hashed: ApiKey = { ...admin, key, isHash: true };
    expect(keyId(hashed)).toBe(keyId(admin));
    const { value } = sessionsOf([hashed]).seal(keyId(hashed));
    expect(sessionsOf([hashed]).open(value)).toMatchObject({ key: keyId(hashed) });
    expect(sessionsOf([hashed], undefined, 'of another').open(value)).toBeNull();
    expect(sessionsOf([{ ...hashed, isHash: false }]).open(value)).toBeNull();
  });
});
