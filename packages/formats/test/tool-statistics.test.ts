import { readdir, readFile } from 'node:fs/promises';
import { openArchive, type PackageResult } from '@svc/pkg-format';
import { afterAll, expect, it } from 'vitest';
import { convert } from './convert.ts';

const CORPUS = new URL('../../../conformance/formats/', import.meta.url);

/** Statistics of one scorer; what a tool does not state is null. */
interface Statistics {
  readonly mean: number | null;
  readonly passed: number | null;
  readonly failed: number | null;
  readonly scored: number | null;
}

const rows: (readonly [file: string, scorer: string, theirs: Statistics, ours: Statistics])[] = [];

const cell = ({ mean, passed, failed, scored }: Statistics): string =>
  [mean?.toFixed(4), passed, failed, scored].map((value) => String(value ?? '-').padStart(7)).join('');

afterAll(() => {
  const head = ['mean', 'passed', 'failed', 'scored'].map((name) => name.padStart(7)).join('');
  const lines = rows.map(([file, scorer, theirs, ours]) => {
    return `${file.padEnd(28)}${scorer.padEnd(30)}${cell(theirs)}  |${cell(ours)}`;
  });
  process.stdout.write(`${''.padEnd(58)}${head}  |${head}\n${lines.join('\n')}\n`);
});

/** The statistics of a scorer by the scores of the results. */
function oursOf(results: readonly PackageResult[], scorer: string): Statistics {
  type Score = { readonly score: number; readonly passed: boolean | null };
  const scores = results.flatMap((one) => (one.scores as Record<string, Score> | null)?.[scorer] ?? []);
  return {
    mean: scores.reduce((sum, { score }) => sum + score, 0) / scores.length,
    passed: scores.filter(({ passed }) => passed === true).length,
    failed: scores.filter(({ passed }) => passed === false).length,
    scored: scores.length,
  };
}

/** Compares what the tool states. */
function compare(file: string, scorer: string, theirs: Statistics, results: readonly PackageResult[]): void {
  const ours = oursOf(results, scorer);
  rows.push([file, scorer, theirs, ours]);
  expect(ours.mean, `${file} ${scorer}`).toBeCloseTo(theirs.mean ?? Number.NaN, 12);
  for (const name of ['passed', 'failed', 'scored'] as const) {
    if (theirs[name] !== null) expect(ours[name], `${file} ${scorer} ${name}`).toBe(theirs[name]);
  }
}

it('has the statistics of lm-evaluation-harness', async () => {
  const folder = new URL('lm-eval/', CORPUS);
  const names = (await readdir(folder)).sort();
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(new URL(name, folder))] as const),
  );
  const { results } = await convert(files);
  const stated = JSON.parse(String(files.find(([name]) => name.startsWith('results'))?.[1]));
  for (const [task, metrics] of Object.entries<Record<string, unknown>>(stated.results)) {
    const ofTask = results.filter(({ section }) => section === task);
    for (const [name, mean] of Object.entries(metrics)) {
      if (typeof mean !== 'number' || !name.includes(',')) continue;
      const theirs = { mean, passed: null, failed: null, scored: stated['n-samples'][task].effective };
      compare(`lm-eval ${task}`, name.replace(',none', ''), theirs, ofTask);
    }
  }
});

interface Log {
  readonly results: {
    readonly completed_samples: number;
    readonly scores: { name: string; metrics: { accuracy: { value: number } } }[];
  };
  readonly samples: { readonly scores: Record<string, { readonly value: unknown }> }[];
}

async function readLog(bytes: Buffer, name: string): Promise<Log> {
  if (name.endsWith('.json')) return JSON.parse(bytes.toString());
  const read = async (start: number, end: number): Promise<Uint8Array> => bytes.subarray(start, end);
  const archive = await openArchive({ byteLength: bytes.byteLength, read }, {}, () => Promise.resolve());
  const parse = async (path: string): Promise<never> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of archive.read(path, {})) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString()) as never;
  };
  const { results }: Log = await parse('header.json');
  return { results, samples: await parse('summaries.json') };
}

it('has the statistics of Inspect', async () => {
  const folder = new URL('inspect/', CORPUS);
  for (const name of (await readdir(folder)).sort()) {
    const bytes = await readFile(new URL(name, folder));
    const { results: stated, samples } = await readLog(bytes, name);
    const { results } = await convert({ [name]: bytes });
    for (const { name: scorer, metrics } of stated.scores) {
      const valued = (value: string): number =>
        samples.filter(({ scores }) => scores[scorer]?.value === value).length;
      const theirs = { passed: valued('C'), failed: valued('I'), scored: stated.completed_samples };
      compare(`inspect ${name}`, scorer, { mean: metrics.accuracy.value, ...theirs }, results);
    }
  }
});

it('has the statistics of promptfoo', async () => {
  const bytes = await readFile(new URL('promptfoo/comparison.json', CORPUS));
  const { prompts, stats } = JSON.parse(bytes.toString()).results;
  const { packages = [] } = await convert({ 'comparison.json': bytes });
  expect(packages).toHaveLength(prompts.length);
  for (const [index, { provider, metrics }] of prompts.entries()) {
    const { testPassCount: passed, testFailCount: failed, score } = metrics;
    const scored = passed + failed;
    const results = packages[index]?.results ?? [];
    const theirs = { mean: score / scored, passed, failed, scored };
    compare(`promptfoo ${provider}`, 'score', theirs, results);
    expect(results.filter(({ status }) => status === 'failed')).toHaveLength(metrics.testErrorCount);
    expect(packages[index]?.run?.config['model']).toBe(provider);
  }
  const all = packages.flatMap(({ results }) => results);
  expect(all.filter(({ passed }) => passed)).toHaveLength(stats.successes);
  // Both providers were asked the same.
  expect(new Set(packages.map(({ report }) => report.versionHash)).size).toBe(1);
  expect(packages[0]?.items[0]).toMatchObject({ answer: '4', criteria: ['answers 2 + 2 briefly'] });
});
