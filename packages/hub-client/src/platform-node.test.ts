import { expect, it } from 'vitest';
import { createSha256 } from './platform-node.ts';

it('hashes in pieces', () => {
  const hash = createSha256();
  hash?.update(new TextEncoder().encode('a'));
  hash?.update(new TextEncoder().encode('bc'));
  expect(hash?.hex()).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
