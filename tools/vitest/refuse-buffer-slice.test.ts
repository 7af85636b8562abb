import { runInThisContext } from 'node:vm';
import { expect, it } from 'vitest';

/** Calls `slice` of a Buffer from a file of this name. */
const sliceFrom = (filename: string): unknown =>
  runInThisContext('(bytes) => bytes.slice(1)', { filename })(Buffer.from('ab'));

it.each(['/svc/packages/a/src/b.ts', 'file:///svc/apps/a/dist/b.js', '/svc/packages/service/src/store/b.ts'])(
  'refuses slice of a Buffer in %s',
  (file) => {
    expect(() => sliceFrom(file)).toThrow('use `subarray`, or copy');
  },
);

it.each(['/svc/node_modules/a/packages/a/src/b.js', '/svc/packages/a/src/b.test.ts', '/svc/tools/b.ts'])(
  'leaves %s alone, and stacks as they are',
  (file) => {
    expect(sliceFrom(file)).toEqual(Buffer.from('b'));
    expect(new Error('x').stack).toContain('refuse-buffer-slice.test.ts');
  },
);
