import { describe, expect, it } from 'vitest';
import { inputNames } from './input-file.ts';

describe('inputNames', () => {
  it('names files, and numbers descriptors', () => {
    const paths = ['data/a.csv', '/dev/fd/63', '/dev/shm/b.csv', '/proc/self/fd/12', '/dev/stdin'];
    expect(inputNames(paths)).toEqual(['a.csv', 'stdin', 'b.csv', 'stdin-2', 'stdin-3']);
  });
});
