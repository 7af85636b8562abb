import { describe, expect, it } from 'vitest';
import { openPackage, PackageError } from '../src/index.ts';
import { INVALID, VALID } from './conformance-cases.ts';
import { corpusArchive } from './conformance-corpus.ts';
import { readEverything } from './read-everything.ts';

/** What differs with the runtime: it inflates, counts CRC-32s, and decodes base64. The long form reads every archive. */
const NAMES = [
  'plain',
  'stored',
  'assets-and-checkers',
  'empty-section-deflated',
  'package_corrupt--asset-crc',
  'package_corrupt--crc-wrong',
  'package_corrupt--crc-wrong-stored',
  'package_corrupt--deflate-broken',
  'package_corrupt--deflate-cut-off',
  'package_corrupt--deflate-followed-by-bytes',
  'package_corrupt--deflate-without-end',
  'package_limit--expansion-ratio',
];

const named = <T extends { readonly name: string }>(cases: readonly T[]): T[] =>
  cases.filter(({ name }) => NAMES.includes(name));

describe('with what browsers have', () => {
  it('knows each archive', () => {
    expect([...named(VALID), ...named(INVALID)]).toHaveLength(NAMES.length);
  });

  it.each(named(VALID))('accepts $name', async (testCase) => {
    await using pkg = await openPackage(corpusArchive(testCase));
    const { sections } = await readEverything(pkg);
    const found = sections.map(({ name, items }) => ({ name, items: items.length }));
    expect({ sections: found }).toMatchObject(testCase.expect);
  });

  it.each(named(INVALID))('refuses $name', async (testCase) => {
    const { limits } = testCase;
    const reading = async (): Promise<unknown> => {
      await using pkg = await openPackage(corpusArchive(testCase), { ...(limits && { limits }) });
      return await readEverything(pkg);
    };
    const error = await reading().catch((reason: unknown) => reason);
    if (!(error instanceof PackageError)) throw error;
    expect({ code: error.code, entry: error.entry, location: error.location }).toMatchObject(testCase.expect);
  });
});
