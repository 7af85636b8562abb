import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPackage, PackageError } from '../src/index.ts';
import { openPackageFile } from '../src/node/index.ts';
import { type ConformanceCase, INVALID, VALID } from './conformance-cases.ts';
import { CORPUS, caseList, corpusArchive } from './conformance-corpus.ts';
import { type EverythingRead, readEverything } from './read-everything.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-format-'));
});
afterAll(() => rm(folder, { recursive: true }));

const options = ({ limits }: ConformanceCase) => ({ ...(limits && { limits }) });

async function inMemory(testCase: ConformanceCase): Promise<EverythingRead> {
  await using pkg = await openPackage(corpusArchive(testCase), options(testCase));
  return await readEverything(pkg);
}

async function fromFile(testCase: ConformanceCase): Promise<EverythingRead> {
  const path = join(folder, `${testCase.name}.zip`);
  await writeFile(path, corpusArchive(testCase));
  await using pkg = await openPackageFile(path, options(testCase));
  return await readEverything(pkg);
}

type Read = (testCase: ConformanceCase) => Promise<EverythingRead>;

/** Reads each archive once, however many tests look at what came of it. */
function once(read: Read): Read {
  const outcomes = new Map<ConformanceCase, Promise<EverythingRead>>();
  return (testCase) => {
    const outcome = outcomes.get(testCase) ?? read(testCase);
    outcomes.set(testCase, outcome);
    return outcome;
  };
}
const readers = [
  ['in memory', once(inMemory)],
  ['from a file', once(fromFile)],
] as const;

describe.each(readers)('packages read %s', (_, read) => {
  it.each(VALID)('accepts $name', async (testCase) => {
    const { sections, ignored, results } = await read(testCase);
    const found = sections.map(({ name, items }) => ({ name, items: items.length }));
    const scores = results?.map(({ score }) => score) ?? null;
    expect({ sections: found, ignored, scores }).toEqual({ ignored: [], scores: null, ...testCase.expect });
  });

  it.each(INVALID)('refuses $name', async (testCase) => {
    const error = await read(testCase).then(
      (found) => expect.unreachable(`was accepted: ${JSON.stringify(found)}`),
      (reason: unknown) => reason,
    );
    if (!(error instanceof PackageError)) throw error;
    expect({ code: error.code, entry: error.entry, location: error.location }).toMatchObject(testCase.expect);
    expect(testCase.name.startsWith(`${error.code}--`)).toBe(true);
  });
});

describe('the corpus', () => {
  it('is the one that its cases make', async () => {
    expect(JSON.parse(await readFile(new URL('cases.json', CORPUS), 'utf8'))).toEqual(caseList());
    const files = await Promise.all(['valid', 'invalid'].map((name) => readdir(new URL(name, CORPUS))));
    expect(files.flat().sort()).toEqual([...VALID, ...INVALID].map(({ name }) => `${name}.zip`).sort());
  });
});

describe('both readers', () => {
  it.each(INVALID)('say the same of $name', async (testCase) => {
    const [a, b] = await Promise.all(
      readers.map(([, read]) => read(testCase).catch((error: PackageError) => error)),
    );
    expect(b).toEqual(a);
    expect((b as PackageError).location).toEqual((a as PackageError).location);
  });
});
