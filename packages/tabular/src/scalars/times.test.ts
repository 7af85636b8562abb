import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileZone, isoDate, isoTime, isoTimestamp } from './times.ts';

describe('isoTimestamp', () => {
  it.each([
    [0n, '1970-01-01T00:00:00'],
    [-1_000_000_000n, '1969-12-31T23:59:59'],
    [1_709_210_096_789_000_000n, '2024-02-29T12:34:56.789000'],
    [1_709_210_096_000_005_000n, '2024-02-29T12:34:56.000005'],
    [1_709_210_096_000_000_001n, '2024-02-29T12:34:56.000000001'],
    [-62_167_219_200_000_000_000n, '0000-01-01T00:00:00'],
    [-62_167_219_201_000_000_000n, '-000001-12-31T23:59:59'],
    [253_402_300_800_000_000_000n, '+010000-01-01T00:00:00'],
  ])('%i is %s', (nanos, text) => {
    expect(isoTimestamp(nanos)).toBe(text);
  });

  it('agrees with Date', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        const text = isoTimestamp(BigInt(date.getTime()) * 1_000_000n);
        expect(text.replace(/(\.\d{3})000$/, '$1')).toBe(date.toISOString().replace(/(?:\.000)?Z$/, ''));
        expect(isoDate(Math.floor(date.getTime() / 86_400_000))).toBe(date.toISOString().split('T')[0]);
      }),
    );
  });
});

it('writes times of day', () => {
  expect(isoTime(3_723_000_004_000n)).toBe('01:02:03.000004');
  expect(isoTime(0n)).toBe('00:00:00');
});

describe('compileZone', () => {
  it.each([
    ['2020-01-01T00:00:00', 'UTC', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00', '+00:00', '2020-01-01T00:00:00Z'],
    ['2020-01-01T08:00:00', 'US/Pacific', '2020-01-01T00:00:00-08:00'],
    ['2020-07-01T07:00:00.000005', 'US/Pacific', '2020-07-01T00:00:00.000005-07:00'],
    ['2019-12-31T23:30:00', 'Europe/Berlin', '2020-01-01T00:30:00+01:00'],
    ['2020-01-01T00:00:00', 'Asia/Kolkata', '2020-01-01T05:30:00+05:30'],
    ['2020-01-01T00:00:00', '-03:30', '2019-12-31T20:30:00-03:30'],
    ['1880-01-01T00:00:00', 'Europe/Berlin', '1880-01-01T00:53:28+00:53:28'],
    ['2020-01-01T00:00:00', 'Mars/Base', '2020-01-01T00:00:00Z'],
    ['+010000-01-01T00:00:00', 'Europe/Berlin', '+010000-01-01T01:00:00+01:00'],
  ])('%s in %s is %s', (text, zone, local) => {
    expect(compileZone(zone)(text)).toBe(local);
  });
});
