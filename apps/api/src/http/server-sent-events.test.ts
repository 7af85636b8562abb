import type { RouteResponse } from '@svc/service';
import { expect, it } from 'vitest';
import { createWatch } from './server-sent-events.ts';

interface State {
  readonly id: string;
  readonly text: string;
  readonly finishedAt: Date | null;
}

function setUp(states: Map<string, State>) {
  const asked: (readonly string[])[] = [];
  const written: string[] = [];
  const draining = new AbortController();
  let failure: Error | undefined;
  const watch = createWatch<State>({
    read: async (ids) => {
      asked.push([...ids].sort());
      if (failure !== undefined) throw failure;
      return ids.flatMap((id) => states.get(id) ?? []);
    },
    toText: ({ text }) => {
      written.push(text);
      return text;
    },
    drainSignal: draining.signal,
  });
  const fail = (error: Error): void => {
    failure = error;
  };
  return { watch, asked, written, draining, fail };
}

async function textOf(answer: RouteResponse): Promise<string> {
  if (answer.kind !== 'stream') throw new Error('no stream');
  let text = '';
  for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
  return text;
}

const never = new AbortController().signal;
const event = (id: number, name: string, data: string): string =>
  `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;

it('reads the states of all streams together, and writes each once', async () => {
  const first = ['a', 'b', 'c'].map((id): State => ({ id, text: `${id} begins`, finishedAt: null }));
  const states = new Map(first.map((state) => [state.id, state]));
  const { watch, asked, written } = setUp(states);
  const streams = first.flatMap((state) => Array.from({ length: 50 }, () => textOf(watch(state, never))));
  await expect.poll(() => asked.length).toBeGreaterThanOrEqual(2);
  for (const ids of asked) expect(ids).toEqual(['a', 'b', 'c']);
  for (const id of ['a', 'b', 'c']) states.set(id, { id, text: `${id} ends`, finishedAt: new Date() });
  const texts = await Promise.all(streams);
  expect(new Set(texts)).toEqual(
    new Set(
      ['a', 'b', 'c'].map((id) => event(1, 'progress', `${id} begins`) + event(2, 'end', `${id} ends`)),
    ),
  );
  expect(written.length).toBe(3 * (asked.length + 1));
  // no stream is left
  const before = asked.length;
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(asked.length).toBe(before);
});

it('ends immediately for a finished state, also for the next stream', async () => {
  const { watch, asked } = setUp(new Map());
  const over: State = { id: 'a', text: 'over', finishedAt: new Date() };
  for (let time = 0; time < 2; time++) expect(await textOf(watch(over, never))).toBe(event(1, 'end', 'over'));
  expect(asked).toEqual([]);
});

it('ends in order at a drain and where the state is deleted, and with an error where it cannot be read', async () => {
  const begun: State = { id: 'a', text: 'begun', finishedAt: null };
  const drained = setUp(new Map([['a', begun]]));
  const stream = textOf(drained.watch(begun, never));
  drained.draining.abort();
  expect(await stream).toBe(event(1, 'progress', 'begun'));
  expect(await textOf(drained.watch(begun, never))).toBe(event(1, 'progress', 'begun'));

  const deleted = setUp(new Map());
  expect(await textOf(deleted.watch(begun, never))).toBe(event(1, 'progress', 'begun'));
  const broken = setUp(new Map([['a', begun]]));
  broken.fail(new Error('the database is down'));
  await expect(textOf(broken.watch(begun, never))).rejects.toThrow('the database is down');

  const leaving = new AbortController();
  const left = setUp(new Map([['a', begun]]));
  const leaver = textOf(left.watch(begun, leaving.signal));
  leaving.abort(new Error('gone'));
  await expect(leaver).rejects.toThrow('gone');
});
