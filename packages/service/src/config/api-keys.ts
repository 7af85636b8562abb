import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { Secret } from '../secrets/secret.ts';

export type Role = 'viewer' | 'editor' | 'admin';
const ROLES: readonly Role[] = ['viewer', 'editor', 'admin'];

/** Shorter keys could be guessed. */
export const MIN_KEY_LENGTH = 16;
export const KEY: RegExp = /^[\x21-\x7e]{16,512}$/;

export interface ApiKey {
  readonly role: Role;
  /** The key, or the hexadecimal SHA-256 of it. */
  readonly key: Secret;
  readonly isHash: boolean;
  /** Who uses it, in labels and versions; null without a name. */
  readonly name: string | null;
  readonly expiresAt: Date | null;
  /** Beginnings of the handles of the datasets that it sees; null for all datasets. */
  readonly handles: readonly string[] | null;
}

export const digestOf = ({ key, isHash }: Pick<ApiKey, 'key' | 'isHash'>): Buffer =>
  isHash ? Buffer.from(key.reveal(), 'hex') : createHash('sha256').update(key.reveal()).digest();

/** The person of a label or change; a colon or a comma would end the name. */
const KEY_NAME = /^[^\p{C}\p{Z}:,;](?:[^\p{C}\p{Zl}\p{Zp}:,;]{0,62}[^\p{C}\p{Z}:,;])?$/u;
/** Names of callers without a named key. */
const RESERVED_NAME = /^(?:anonymous|key \d+)$/i;
/** The beginning of a handle. */
const PREFIX = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const MAX_PREFIXES = 100;

/** Parses the keys of a variable. @throws Error that says what is wrong, and repeats no key */
export function parseKeyList(text: string): readonly ApiKey[] {
  const keys = text.split(',').map((entry, index): ApiKey => {
    const place = `entry ${index + 1}`;
    const [stated = '', ...options] = entry.split(';').map((part) => part.trim());
    const [roleText = '', key = '', name, ...others] = stated.split(':').map((part) => part.trim());
    // The text may be a key, so the message does not repeat it.
    const role = ROLES.find((candidate) => candidate === roleText && stated.includes(':'));
    if (role === undefined) throw new Error(`${place} must be viewer:<key>, editor:<key> or admin:<key>`);
    if (others.length > 0) {
      throw new Error(`${place} must be role:key or role:key:name: a key or a name holds no colon`);
    }
    const expires: string[] = [];
    const handles: string[] = [];
    for (const option of options) {
      const [, what, value = ''] = /^(expires|handles)=(.*)$/.exec(option) ?? [];
      if (what === undefined)
        throw new Error(`${place} must have ;expires=… or ;handles=… after a semicolon`);
      (what === 'expires' ? expires : handles).push(value);
    }
    if (expires.length > 1) throw new Error(`${place} must expire once`);
    return readKey(
      {
        role,
        key,
        isHash: false,
        name,
        expires: expires[0],
        handles: handles.length === 0 ? undefined : handles,
      },
      place,
    );
  });
  return checkKeys(keys);
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MEMBERS: ReadonlySet<string> = new Set(['role', 'key', 'key_sha256', 'name', 'expires', 'handles']);

/** Changes with the file, also if another one replaces it. @throws Error if there is none */
export function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) throw new Error('must name a file that is there');
  const { ino, size, mtimeMs } = found;
  if (size > MAX_FILE_BYTES) throw new Error(`must have at most ${MAX_FILE_BYTES} bytes, got ${size}`);
  return `${ino} ${size} ${mtimeMs}`;
}

/** Reads keys, with a mark that shows when their file has changed. @throws Error that says what is wrong, and repeats no key */
export function readKeysFile(path: string) {
  const stamp = stampOf(path);
  let entries: JsonValue;
  try {
    entries = parseJson(readFileSync(path, 'utf8'));
  } catch {
    // The reason could repeat what is in the file.
    throw new Error('must hold JSON');
  }
  if (!Array.isArray(entries)) throw new Error('must hold a JSON array of keys');
  const keys = entries.map((entry, index): ApiKey => {
    const place = `entry ${index + 1}`;
    if (!isJsonObject(entry)) throw new Error(`${place} must be an object`);
    const members = new Map(Object.entries(entry).filter(([, value]) => value !== null));
    const unknown = [...members.keys()].find((name) => !MEMBERS.has(name));
    if (unknown !== undefined)
      throw new Error(`${place} must have no member ${JSON.stringify(unknown.slice(0, 50))}`);
    const textOf = (name: string): string | undefined => {
      const value = members.get(name);
      if (value === undefined || typeof value === 'string') return value;
      throw new Error(`${name} of ${place} must be a string`);
    };
    const role = ROLES.find((candidate) => candidate === members.get('role'));
    if (role === undefined) throw new Error(`the role of ${place} must be viewer, editor or admin`);
    const [key, hash] = [textOf('key'), textOf('key_sha256')];
    if ((key === undefined) === (hash === undefined))
      throw new Error(`${place} must have a key or its key_sha256`);
    const handles = members.get('handles');
    if (
      handles !== undefined &&
      !(Array.isArray(handles) && handles.every((one) => typeof one === 'string'))
    ) {
      throw new Error(`the handles of ${place} must be an array of strings`);
    }
    return readKey(
      {
        ...{ role, key: key ?? hash ?? '', isHash: key === undefined, name: textOf('name') },
        ...{ expires: textOf('expires'), handles: handles as readonly string[] | undefined },
      },
      place,
    );
  });
  return { path, keys: checkKeys(keys), stamp };
}

function readKey(
  stated: Pick<ApiKey, 'role' | 'isHash'> & {
    readonly key: string;
    readonly name: string | undefined;
    readonly expires: string | undefined;
    readonly handles: readonly string[] | undefined;
  },
  place: string,
): ApiKey {
  const { role, isHash, expires, handles = null } = stated;
  const key = isHash ? stated.key.toLowerCase() : stated.key;
  if (isHash && !/^[0-9a-f]{64}$/.test(key))
    throw new Error(`key_sha256 of ${place} must be 64 hexadecimal digits`);
  if (!isHash && !(KEY.test(key) && !/[:,;]/.test(key))) {
    throw new Error(
      `the key of ${place} must be visible ASCII, 16 to 512 characters without a colon, comma or semicolon`,
    );
  }
  const name = stated.name === undefined ? null : readKeyName(stated.name, place);
  const expiresAt = expires === undefined ? null : readTime(expires);
  if (expires !== undefined && expiresAt === null) {
    throw new Error(
      `${place} must expire at a date such as 2027-01-01, or a time such as 2027-01-01T12:00:00Z`,
    );
  }
  if (
    handles !== null &&
    !(handles.length > 0 && handles.length <= MAX_PREFIXES && handles.every((one) => PREFIX.test(one)))
  ) {
    throw new Error(
      `the handles of ${place} must be 1 to ${MAX_PREFIXES} beginnings of handles such as team-a-`,
    );
  }
  return { role, key: new Secret(key), isHash, name, expiresAt, handles };
}

/** A date is its beginning in UTC. Null for a day that no calendar has, too. */
export function readTime(text: string): Date | null {
  const day = DATE.test(text) ? text : TIME.exec(text)?.[1];
  const isDay =
    day !== undefined && new Date(Date.parse(`${day}T00:00:00Z`) || 0).toISOString().startsWith(day);
  const time = new Date(DATE.test(text) ? `${text}T00:00:00Z` : text);
  return isDay && !Number.isNaN(time.getTime()) ? time : null;
}

function readKeyName(stated: string, place: string): string {
  const name = stated.normalize('NFC');
  const what = `the name of ${place}`;
  if (!KEY_NAME.test(name)) {
    throw new Error(`${what} must be 1 to 64 characters without colons, commas and control characters`);
  }
  if (RESERVED_NAME.test(name)) {
    throw new Error(`${what} must not be what callers without a name are called: anonymous, key 1, key 2 …`);
  }
  return name;
}

/** Checks keys together. Labels, changes and repeated requests belong to names: two keys of one name see the same. */
export function checkKeys(keys: readonly ApiKey[]): readonly ApiKey[] {
  if (new Set(keys.map((key) => digestOf(key).toString('hex'))).size < keys.length)
    throw new Error('has a duplicate key');
  const seen = new Map<string, string>();
  for (const { name, handles } of keys) {
    if (name === null) continue;
    const sees = JSON.stringify(handles?.map((prefix) => prefix.toLowerCase()).sort() ?? null);
    if (seen.has(name) && seen.get(name) !== sees)
      throw new Error(`must give all keys of ${name} the same handles`);
    seen.set(name, sees);
  }
  return keys;
}
