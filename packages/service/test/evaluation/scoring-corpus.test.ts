import { describe, expect, it } from 'vitest';
import { type LocatedLine, type Reading, readCorpus, readLine } from './scoring-corpus.ts';

const corpus = readCorpus();
const checkers = [...new Set(corpus.map(({ checker }) => checker))];

interface Read {
  readonly line: LocatedLine;
  readonly reading: Reading;
  readonly explanation: string;
}

async function readAll(checker: string): Promise<readonly Read[]> {
  const lines = corpus.filter((line) => line.checker === checker);
  return await Promise.all(lines.map(async (line) => ({ line, ...(await readLine(line)) })));
}

const describeRead = ({ line, reading, explanation }: Read): string =>
  `${line.location} ${line.expect}, read as ${reading}: ${JSON.stringify(line.output)} with answer ${JSON.stringify(line.answer)} (${explanation})`;

describe.each(checkers)('%s on the corpus of conformance/scoring', (checker) => {
  it('passes no output that does not state the answer', async () => {
    const read = await readAll(checker);
    const wrong = read.filter(({ line, reading }) => reading === 'pass' && line.expect !== 'pass');
    expect(wrong.map(describeRead)).toEqual([]);
  });

  it('fails at most 1 % of the outputs that state the answer', async () => {
    const read = await readAll(checker);
    const right = read.filter(({ line }) => line.expect === 'pass');
    const wrong = right.filter(({ reading }) => reading !== 'pass');
    expect(wrong.length, wrong.map(describeRead).join('\n')).toBeLessThanOrEqual(right.length / 100);
  });

  it('scores exactly the items that have an answer', async () => {
    const read = await readAll(checker);
    const wrong = read.filter(
      ({ line, reading }) => (reading === 'no_answer') !== (line.expect === 'no_answer'),
    );
    expect(wrong.map(describeRead)).toEqual([]);
  });

  it('says of an output that states nothing that it cannot be read', async () => {
    const read = await readAll(checker);
    const nothing = read.filter(({ line }) => line.expect === 'unreadable');
    const wrong = nothing.filter(({ reading }) => reading !== 'unreadable');
    expect(wrong.length, wrong.map(describeRead).join('\n')).toBeLessThanOrEqual(nothing.length / 100);
  });
});

describe('an explanation', () => {
  it('names the choice that the output states, and the words that state it', async () => {
    const read = (await readAll('choice')).filter(
      ({ line, reading }) => typeof line.picked === 'string' && reading !== 'unreadable',
    );
    const wrong = read.filter(({ line, explanation }) => !explanation.startsWith(`Picked ${line.picked}: "`));
    expect(wrong.length, wrong.map(describeRead).join('\n')).toBeLessThanOrEqual(read.length / 100);
  });

  it('names the number that it read, and the words around it', async () => {
    const passed = (await readAll('numeric')).filter(({ reading }) => reading === 'pass');
    expect(
      passed.map(({ explanation }) => explanation).filter((text) => !/^Read \S+ from "/.test(text)),
    ).toEqual([]);
  });
});

describe('conformance/scoring', () => {
  it('states each case once, with its reason', () => {
    const cases = corpus.map(({ location: _, why: __, ...rest }) => JSON.stringify(rest));
    expect(new Set(cases).size).toBe(cases.length);
    expect(corpus.filter(({ why }) => why === '')).toEqual([]);
  });
});
