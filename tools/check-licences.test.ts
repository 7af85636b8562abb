import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isAllowed, licenceOf, productionPackages } from './check-licences.ts';

const packages = productionPackages(fileURLToPath(new URL('..', import.meta.url)));

describe('isAllowed', () => {
  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-or-later)', true],
    ['GPL-3.0-or-later OR MIT', true],
    ['(MIT AND Zlib)', true],
    ['MIT AND (GPL-2.0-only OR ISC)', true],
    ['GPL-3.0-only', false],
    ['MIT AND GPL-3.0-only', false],
    ['GPL-3.0-only AND MIT OR LGPL-3.0-only', false],
    ['GPL-2.0-only WITH Classpath-exception-2.0', false],
    ['(MIT', false],
    ['MIT MIT', false],
    ['SEE LICENSE IN LICENSE.txt', false],
    ['UNLICENSED', false],
    ['', false],
  ])('%s: %s', (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });
});

describe('licenceOf', () => {
  it('reads what manifests of all ages state', () => {
    expect(licenceOf({ license: 'MIT' })).toBe('MIT');
    expect(licenceOf({ license: { type: 'MIT' } })).toBe('MIT');
    expect(licenceOf({ licenses: [{ type: 'GPL-3.0-only' }, { type: 'MIT' }] })).toBe('GPL-3.0-only OR MIT');
    expect(licenceOf({})).toBe('');
  });
});

describe('what comes with the service', () => {
  it('is all found, also what only a dependency needs, and nothing that only tests need', () => {
    const names = new Set([...packages.values()].map(({ name }) => name));
    for (const name of ['@svc/api', 'express', 'busboy', 'streamsearch', 'pg']) expect(names).toContain(name);
    for (const name of ['vitest', 'typescript', 'fast-check']) expect(names).not.toContain(name);
    expect(packages.size).toBeGreaterThan(100);
  });

  it('may come with it', () => {
    const wrong = [...packages.values()].filter((manifest) => !isAllowed(licenceOf(manifest)));
    expect(wrong.map((manifest) => `${manifest.name}: ${licenceOf(manifest)}`)).toEqual([]);
  });
});
