import { afterEach, expect, it, vi } from 'vitest';
import { followEvents } from './streams.ts';

/** A stream of events as a browser has it. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static readonly opened: Source[] = [];
  readyState = 0;

  constructor() {
    super();
    Source.opened.push(this);
  }

  close(): void {
    this.readyState = Source.CLOSED;
  }
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('opens a refused stream again until it has ended, and a lost one not twice', () => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Source);
  const states: unknown[] = [];
  const stop = followEvents('/jobs/1/events', (state) => states.push(state));
  const send = (type: string, done: number): void =>
    void Source.opened.at(-1)?.dispatchEvent(new MessageEvent(type, { data: JSON.stringify({ done }) }));
  const fail = (readyState: number): void => {
    const source = Source.opened.at(-1);
    if (source !== undefined) source.readyState = readyState;
    source?.dispatchEvent(new Event('error'));
    vi.runAllTimers();
  };
  send('progress', 1);
  fail(0);
  expect(Source.opened).toHaveLength(1);
  fail(2);
  expect(Source.opened).toHaveLength(2);
  fail(2);
  send('end', 3);
  expect(states).toEqual([{ done: 1 }, { done: 3 }]);
  expect(Source.opened.at(-1)?.readyState).toBe(2);
  stop();
  vi.runAllTimers();
  expect(Source.opened).toHaveLength(3);
});
