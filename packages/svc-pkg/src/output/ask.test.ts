import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Cli } from '../cli-context.ts';
import { askSecret } from './ask.ts';

it('hides what is typed before it asks for a secret', async () => {
  const events: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => events.push(isRaw ? 'hide' : 'show'),
  });
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      events.push(String(chunk));
      if (String(chunk) === 'Key: ') stdin.write('sesame\r');
      done();
    },
  });
  const cli = {
    stdin,
    stderr,
    isInteractive: true,
    signal: new AbortController().signal,
  } as Partial<Cli> as Cli;
  expect(await askSecret(cli, 'Key: ')).toBe('sesame');
  expect(events).toEqual(['hide', 'Key: ', 'show', '\n']);
});
