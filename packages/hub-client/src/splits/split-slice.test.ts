import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HubError } from '../errors.ts';
import { defaultSplit, needsRowCounts, parseSplit, resolveSplit, type SplitRange } from './split-slice.ts';

const code = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof HubError) return error.code;
    throw error;
  }
  return 'no error';
};
const resolve = (expression: string, sizes: Record<string, number | undefined>): string =>
  resolveSplit(
    parseSplit(expression),
    Object.entries(sizes).map(([name, numRows]) => ({ name, numRows })),
  )
    .map(({ split, from, to }) => `${split} ${from}-${to ?? ''}`)
    .join(', ');

describe('parseSplit and resolveSplit', () => {
  it.each([
    ['train', 'train 0-20'],
    ['train[:]', 'train 0-20'],
    ['train[:7]', 'train 0-7'],
    ['train[15:]', 'train 15-20'],
    ['train[-6:-2]', 'train 14-18'],
    ['train[-0:]', 'train 0-20'],
    ['train[:500]', 'train 0-20'],
    ['train[-500:]', 'train 0-20'],
    ['train[:1_5]', 'train 0-15'],
    ['train[007:008]', 'train 7-8'],
    ['train\n', 'train 0-20'],
    ['test+train[:1]', 'test 0-6, train 0-1'],
    ['train[:1]+train[:1]', 'train 0-1, train 0-1'],
    ['train[:0]+test[:1]', 'train 0-0, test 0-1'],
    ['all', 'train 0-20, test 0-6'],
  ])('%j selects %s', (expression, ranges) => {
    expect(resolve(expression, { train: 20, test: 6 })).toBe(ranges);
  });

  it.each([
    ['[:5%]', 10, 0, 0],
    ['[:15%]', 10, 0, 2],
    ['[:25%]', 10, 0, 2],
    ['[:35%]', 10, 0, 4],
    ['[-25%:]', 10, 8, 10],
    ['[:50%]', 3, 0, 2],
    ['[50%:]', 5, 2, 5],
    ['[:33%]', 1000000007, 0, 330000002],
    ['[:29%]', 100, 0, 29],
    ['[2:60%]', 50, 1, 30],
    ['[:10%](pct1_dropremainder)', 999, 0, 90],
    ['[-10%:](pct1_dropremainder)', 999, 909, 999],
    ['[99%:](pct1_dropremainder)', 150, 99, 150],
    ['[:100%](pct1_dropremainder)', 250, 0, 200],
  ])('s%s of %i rows is %i to %i', (slice, count, from, to) => {
    const parsed = parseSplit(`s${slice}+t`);
    const sizes = [
      { name: 's', numRows: count },
      { name: 't', numRows: 1 },
    ];
    expect(resolveSplit(parsed, sizes)[0]).toEqual({ split: 's', from, to });
  });

  it.each([
    '',
    ' train',
    'train ',
    'train + test',
    'train[:3] +test',
    'train [:3]',
    'train[ :3]',
    'train[::2]',
    'train[3]',
    'train[]',
    'train[:3.5]',
    'train[+1:]',
    'train[:3][:2]',
    'train[:_]',
    'train[:1_]',
    'train-extra',
    'train.',
    '.train',
    'a..b',
    'train+',
    'train++test',
    'train|test',
    'train[:3](closest)',
    'train(closest)',
    'train[:5%](floor)',
    'train[:5%]()',
    'train[:101%]',
    'train[-101%:]',
    'train[:10%]+test[50%:](pct1_dropremainder)',
    'a+'.repeat(9000),
  ])('refuses %j', (expression) => {
    expect(code(() => parseSplit(expression))).toBe('invalid_split');
  });

  it('allows different roundings behind a part that is not rounded', () => {
    expect(resolve('a[:2]+b[:50%]+b[:50%](pct1_dropremainder)', { a: 5, b: 250 })).toBe(
      'a 0-2, b 0-125, b 0-100',
    );
  });

  it.each([
    'train[:0]',
    'train[9:9]',
    'train[20:]',
    'train[5:2]',
    'train[-2:3]',
    'train[:2%]',
    'train[:0]+test[:0]',
    'test[1:0]+test[33%:67%]',
    'train+train[-2:3]',
  ])('refuses %s, which selects nothing of a split that has rows', (expression) => {
    expect(code(() => resolve(expression, { train: 20, test: 6 }))).toBe('invalid_split');
  });

  it('takes an empty split as it is', () => {
    expect(resolve('train[:10%]', { train: 0 })).toBe('train 0-0');
  });

  it('refuses pct1_dropremainder for a split under a hundred rows', () => {
    expect(code(() => resolve('train[:10%](pct1_dropremainder)', { train: 99 }))).toBe('invalid_split');
  });

  it.each(['TRAIN', 'dev', 'train+dev', 'all[:3]', 'all+train'])(
    'does not find %s and lists what there is',
    (name) => {
      try {
        resolve(name, { train: 1, test: 1 });
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({
          code: 'hub_split_not_found',
          details: { available: ['train', 'test'] },
        });
      }
    },
  );

  it.each([
    ['train.clean.100[:5]', 'train.clean.100 0-5'],
    ['été', 'été 0-9'],
    ['2020[:3]', '2020 0-3'],
  ])('knows %s as a split name', (expression, ranges) => {
    expect(resolve(expression, { 'train.clean.100': 9, été: 9, '2020': 9 })).toBe(ranges);
  });
});

describe('without row counts', () => {
  it.each([
    ['train', 'train 0-'],
    ['train[5:]', 'train 5-'],
    ['train[5:9]', 'train 5-9'],
    ['train[:99999999999999999999]', 'train 0-9007199254740991'],
  ])('%s is a range to read', (expression, ranges) => {
    expect(needsRowCounts(parseSplit(expression))).toBe(false);
    expect(resolve(expression, { train: undefined })).toBe(ranges);
  });

  it.each(['train[-5:]', 'train[:-5]', 'train[:5%]', 'test+train[5%:]'])('%s needs them', (expression) => {
    expect(needsRowCounts(parseSplit(expression))).toBe(true);
    expect(code(() => resolve(expression, { train: undefined, test: 4 }))).toBe('invalid_split');
  });
});

describe('defaultSplit', () => {
  it.each([
    [['test'], 'test'],
    [['test', 'train'], 'train'],
    [['dev', 'validation', 'test'], 'test'],
    [['dev', 'validation'], 'validation'],
  ])('of %j is %s', (names, expected) => {
    expect(defaultSplit(names)).toBe(expected);
  });

  it('asks where nothing is obvious', () => {
    expect(() => defaultSplit(['a', 'b'])).toThrow(expect.objectContaining({ code: 'hub_split_not_found' }));
  });
});

it('never leaves the split, whatever the bounds', () => {
  const bound = fc.option(fc.integer({ min: -100, max: 100 }), { nil: null });
  fc.assert(
    fc.property(bound, bound, fc.boolean(), fc.integer({ min: 0, max: 5000 }), (from, to, percent, count) => {
      const unit = percent ? '%' : '';
      const side = (value: number | null): string => (value === null ? '' : `${value}${unit}`);
      // The second member keeps an empty first one from being refused, unless it is reversed.
      let range: SplitRange | undefined;
      try {
        [range] = resolveSplit(parseSplit(`s[${side(from)}:${side(to)}]+t`), [
          { name: 's', numRows: count },
          { name: 't', numRows: 1 },
        ]);
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_split' });
        return;
      }
      expect(range!.from).toBeLessThanOrEqual(range!.to!);
      expect(range!.from).toBeGreaterThanOrEqual(0);
      expect(range!.from).toBeLessThanOrEqual(count);
      expect(range!.to).toBeLessThanOrEqual(count);
      if (percent && from !== null && from >= 0) {
        // Half to even is never further than half a row from the exact share.
        expect(Math.abs(range!.from * 100 - from * count)).toBeLessThanOrEqual(50);
      }
    }),
  );
});
