import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type ZippedFile, zipFiles } from './zip-stream.ts';

it('closes the file that it reads when it is left early', async () => {
  const closed: string[] = [];
  async function* bytes() {
    try {
      for (;;) yield randomBytes(200_000);
    } finally {
      closed.push('bytes');
    }
  }
  async function* files(): AsyncGenerator<ZippedFile> {
    try {
      yield { name: 'a', bytes: bytes() };
    } finally {
      closed.push('files');
    }
  }
  for await (const _ of zipFiles(files())) break;
  expect(closed).toEqual(['bytes', 'files']);
});
