import type { Item, ItemParts } from '@svc/jsonl-v23';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { spellingsOf } from '@svc/jsonl-v23/secrets';
import { describe, expect, it } from 'vitest';
import {
  createCheckRunner,
  JsonText,
  type Provider,
  type ProviderRequest,
  type RunEnd,
  RunError,
  type RunItem,
  type RunResult,
  type RunSession,
  runCancelled,
} from '../evaluation/index.ts';
import { createTurns } from './run/turns.ts';
import { type RunDatasetOptions, runDataset } from './run-dataset.ts';

/** An item as it is stored. */
function stored({ answer, checker, ...payload }: Item): ItemParts {
  const text = (value: JsonValue | undefined): string | null =>
    value === undefined ? null : canonicalJson(value);
  return { payload: canonicalJson(payload), answer: text(answer), checker: text(checker), assets: null };
}

/** A session in memory that keeps the rule of the store: a result that is there stays. */
class MemorySession implements RunSession {
  readonly results = new Map<string, RunResult>();
  readonly ends: RunEnd[] = [];
  closed = false;
  saveCalls = 0;
  readonly #items: readonly Item[];
  readonly #repetitions: number;

  constructor(items: readonly Item[], repetitions = 1) {
    this.#items = items;
    this.#repetitions = repetitions;
  }

  async *items(signal: AbortSignal): AsyncGenerator<RunItem> {
    try {
      for (const [orderIndex, item] of this.#items.entries()) {
        signal.throwIfAborted();
        const numbers = Array.from({ length: this.#repetitions }, (_, i) => i + 1);
        const doneRepetitions = numbers.filter((number) => this.results.has(`${orderIndex}#${number}`));
        if (doneRepetitions.length < this.#repetitions) {
          yield { section: 's', sectionOrderIndex: 0, orderIndex, parts: stored(item), doneRepetitions };
        }
      }
    } finally {
      this.closed = true;
    }
  }

  async *readAsset(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('file');
  }

  async saveResults(results: readonly RunResult[]): Promise<void> {
    this.saveCalls += 1;
    for (const result of results) {
      const key = `${result.orderIndex}#${result.repetition}`;
      if (!this.results.has(key)) this.results.set(key, result);
    }
  }

  async finish(end: RunEnd): Promise<void> {
    this.ends.push(end);
  }
}

const items = (count: number): Item[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `i${i}`,
    type: 'exact',
    inputs: { prompt: `Q${i}` },
    answer: `Q${i}`,
  }));

function provider(
  complete: (request: ProviderRequest, signal: AbortSignal) => Promise<JsonValue>,
  usesMessages = true,
): Provider {
  return {
    usesMessages,
    complete: async (request, signal) => ({
      output: await complete(request, signal),
      usage: { total_tokens: 1 },
      finishReason: 'stop',
      attempts: 1,
    }),
  };
}

const KEY = 'a key of the service';

/** The configuration of every test, but for what it states. */
const CONFIG = {
  repetitions: 1,
  concurrency: 4,
  max_consecutive_failures: 20,
} as RunDatasetOptions['config'];

/** The text of the last message of a request. */
const lastText = ({ conversationJson }: ProviderRequest): string =>
  JSON.parse(new TextDecoder().decode(conversationJson)).messages.at(-1).content;
const echo = provider(async (request) => lastText(request));

function run(
  session: RunSession,
  given: Provider,
  options: Partial<RunDatasetOptions> = {},
  judge: Provider | null = null,
) {
  let nowMs = 0;
  return runDataset(
    {
      session,
      provider: given,
      judges: new Map(judge === null ? [] : [['main', judge]]),
      checks: createCheckRunner({ threads: 0 }),
      secrets: spellingsOf([KEY]),
      clock: { nowMs: () => (nowMs += 5) },
      turns: createTurns(),
    },
    {
      ...{ config: CONFIG, before: { spent: 0, asked: 0, askedCost: 0 }, defaultJudgePrompts: null },
      signal: new AbortController().signal,
      ...options,
    },
  );
}

describe('runDataset', () => {
  it('stores a result for each item and ends as completed', async () => {
    const session = new MemorySession(items(50));
    expect(await run(session, echo)).toEqual({ status: 'completed' });
    expect(session.ends).toEqual([{ status: 'completed' }]);
    expect(session.results.size).toBe(50);
    expect(session.results.get('7#1')).toEqual({
      section: 's',
      sectionOrderIndex: 0,
      orderIndex: 7,
      itemId: 'i7',
      repetition: 1,
      status: 'ok',
      output: 'Q7',
      score: 1,
      passed: true,
      explanation: 'Compared "Q7"',
      error: null,
      latencyMs: expect.any(Number),
      usage: { total_tokens: 1 },
      judgeUsage: null,
      judgeCost: null,
      finishReason: 'stop',
      attempts: 1,
      omittedAssets: [],
      reasoning: null,
      scoredBy: 'checker',
      scores: null,
      traceId: null,
      redacted: 0,
      reused: false,
      usageReused: null,
      ...{ cost: 0, requestHash: null },
    });
  });

  it('scores what a model said, and stores it without the keys of the service', async () => {
    const said = `My key is ${KEY}.`;
    const item = { type: 'exact', inputs: { prompt: 'p' }, checker: { type: 'exact_match' }, answer: said };
    for (const padding of ['', 'x'.repeat(100_000)]) {
      const session = new MemorySession([{ ...item, answer: said + padding }]);
      await run(
        session,
        provider(async () => said + padding),
      );
      const { output, ...result } = session.results.get('0#1') ?? {};
      expect(result).toMatchObject({ status: 'ok', score: 1, passed: true });
      expect('redacted' in result && result.redacted).toBeGreaterThan(0);
      expect(JSON.stringify(result)).not.toContain(KEY.slice(0, 8));
      const text = output instanceof JsonText ? (JSON.parse(output.json) as string) : output;
      expect(text).toBe(`My key is [redacted].${padding}`);
    }
  });

  it('counts every key that it replaces, wherever a result holds one', async () => {
    const session = new MemorySession([
      { inputs: { prompt: 'p' }, answer: 'A', checker: { type: 'exact_match' } },
    ]);
    const usage = { note: `${KEY} ${KEY}`, [KEY]: 1 };
    const repeating: Provider = {
      usesMessages: true,
      complete: async () => ({
        ...{ output: { tool_calls: [KEY] }, reasoning: KEY, usage, finishReason: KEY },
        attempts: 1,
      }),
    };
    await run(session, repeating);
    const result = session.results.get('0#1');
    expect(result).toMatchObject({
      output: { tool_calls: ['[redacted]'] },
      reasoning: '[redacted]',
      usage: { note: '[redacted] [redacted]', '[redacted]': 1 },
      finishReason: null,
    });
    expect(result?.redacted).toBeGreaterThanOrEqual(6);
    expect(JSON.stringify(result)).not.toContain(KEY);
  });

  it('charges answers that failed, and stores what they have used', async () => {
    const session = new MemorySession(items(60));
    const usage = { prompt_tokens: 1_000, completion_tokens: 9_000 };
    let charged = 0;
    const failing: Provider = {
      usesMessages: true,
      complete: async () => {
        charged += 0.01;
        throw new RunError('provider_bad_response', 'no message', {
          attempts: 1,
          usage,
          answers: [{ input: 1_000, output: 9_000 }],
        });
      },
    };
    const price = { input_per_million: 1, output_per_million: 1, currency: 'EUR' };
    const config = {
      ...CONFIG,
      concurrency: 1,
      price,
      max_cost: { amount: 0.1 },
      max_consecutive_failures: 100,
    };
    expect(await run(session, failing, { config })).toMatchObject({ status: 'stopped' });
    expect(charged).toBeCloseTo(0.1);
    expect(session.results.size).toBe(10);
    for (const result of session.results.values()) {
      expect(result).toMatchObject({ status: 'failed', usage });
      expect(result.cost).toBeCloseTo(0.01);
    }
  });

  it('completes with no items', async () => {
    const session = new MemorySession([]);
    expect(await run(session, echo)).toEqual({ status: 'completed' });
    expect(session.saveCalls).toBe(0);
  });

  it('repeats each item, without the repetitions that have a result', async () => {
    const session = new MemorySession(items(3), 3);
    session.results.set('1#2', { output: 'kept' } as RunResult);
    let calls = 0;
    const counted = provider(async () => {
      calls += 1;
      return 'x';
    });
    await run(session, counted, { config: { ...CONFIG, repetitions: 3, concurrency: 2 } });
    expect(calls).toBe(8);
    expect([...session.results.keys()].sort()).toEqual([
      '0#1',
      '0#2',
      '0#3',
      '1#1',
      '1#2',
      '1#3',
      '2#1',
      '2#2',
      '2#3',
    ]);
    expect(session.results.get('1#2')?.output).toBe('kept');
  });

  it('stores an error of one item as a failed result and continues', async () => {
    const session = new MemorySession([
      ...items(2),
      { id: 3, inputs: {} },
      { inputs: { prompt: 'p' }, answer: 'x', checker: { type: 'regex', pattern: '(' } },
    ]);
    const bug = new TypeError('an internal mistake that names a secret');
    const flaky = provider(async (request) => {
      if (lastText(request) === 'Q0') throw new RunError('provider_timeout', 'took too long');
      if (lastText(request) === 'Q1') throw bug;
      return 'x';
    });
    expect(await run(session, flaky)).toEqual({ status: 'completed' });
    expect([...session.results.values()].sort((a, b) => a.orderIndex - b.orderIndex)).toMatchObject([
      {
        status: 'failed',
        output: null,
        score: null,
        passed: null,
        latencyMs: null,
        error: { code: 'provider_timeout', message: 'took too long' },
      },
      {
        status: 'failed',
        error: { code: 'internal', message: 'Internal error.' },
        cause: bug,
      },
      { status: 'failed', itemId: 3, error: { code: 'item_without_prompt' } },
      {
        status: 'failed',
        itemId: null,
        output: 'x',
        usage: { total_tokens: 1 },
        error: { code: 'checker_invalid' },
      },
    ]);
    expect([...session.results.values()].filter(({ cause }) => cause !== undefined)).toHaveLength(1);
  });

  it('stores a failed result for an unreadable item without calling the provider', async () => {
    const session = new MemorySession([]);
    const location = { section: 's', sectionOrderIndex: 0, doneRepetitions: [] };
    session.items = async function* () {
      yield {
        ...location,
        orderIndex: 0,
        parts: null,
        failure: { code: 'item_too_large', message: 'It has more than 9 bytes.' },
      };
      yield { ...location, orderIndex: 1, parts: stored({ inputs: { prompt: 'p' } }) };
    };
    let asked = 0;
    const counting = provider(async () => {
      asked += 1;
      return 'x';
    });
    expect(await run(session, counting)).toEqual({ status: 'completed' });
    expect(asked).toBe(1);
    expect(session.results.get('0#1')).toMatchObject({
      status: 'failed',
      itemId: null,
      error: { code: 'item_too_large', message: 'It has more than 9 bytes.' },
    });
  });

  it('scores the outputs that are there, however many requests failed before', async () => {
    const session = new MemorySession([]);
    const facts = { itemId: null, finishReason: null, latencyMs: null, usage: null };
    const none = { omittedAssets: null, reasoning: null, traceId: null, redacted: 0 };
    session.items = async function* () {
      for (let orderIndex = 0; orderIndex < 6; orderIndex += 1) {
        const failure =
          orderIndex === 5 ? null : ({ code: 'provider_timeout', message: 'took too long' } as const);
        const output = failure === null ? 'Q' : null;
        yield {
          ...{ section: 's', sectionOrderIndex: 0, orderIndex, doneRepetitions: [] },
          parts: stored({ type: 'exact', inputs: { prompt: 'Q' }, answer: 'Q' }),
          outputs: [{ repetition: 1, output, failure, ...facts, ...none }],
        };
      }
    };
    const config = { ...CONFIG, max_consecutive_failures: 3, concurrency: 1 };
    expect(await run(session, echo, { config })).toEqual({ status: 'completed' });
    expect([...session.results.values()].map(({ status }) => status)).toEqual([
      ...Array.from({ length: 5 }, () => 'failed'),
      'ok',
    ]);
  });

  describe('with a large item', () => {
    const noise = 'n'.repeat(70_000);
    const large = (more: Item): Item => ({ id: 'big', inputs: { prompt: 'p' }, meta: { noise }, ...more });
    const onThread = async (item: Item, given: Provider, judge: Provider | null = null) => {
      await using checks = createCheckRunner();
      const session = new MemorySession([item]);
      await runDataset(
        {
          session,
          provider: given,
          judges: new Map(judge === null ? [] : [['main', judge]]),
          checks,
          secrets: null,
          clock: { nowMs: () => 0 },
          turns: createTurns(),
        },
        {
          config: { ...CONFIG, repetitions: 1, concurrency: 1 },
          before: { spent: 0, asked: 0, askedCost: 0 },
          defaultJudgePrompts: 'From the dataset',
          signal: new AbortController().signal,
        },
      );
      return session.results.get('0#1');
    };
    const asked = (reply: string, seen: string[]): Provider => ({
      usesMessages: true,
      complete: async ({ conversationJson }) => {
        seen.push(new TextDecoder().decode(conversationJson));
        return { output: reply, usage: null, finishReason: null, attempts: 1 };
      },
    });

    it('passes the messages to the provider and the judge as text', async () => {
      const questions: string[] = [];
      const judged: string[] = [];
      const judge = asked('{"score": 0.6}', judged);
      const result = await onThread(large({ checker: 'judge' }), asked('yes', questions), judge);
      expect(result).toMatchObject({ itemId: 'big', status: 'ok', score: 0.6, output: 'yes' });
      expect(questions).toEqual(['{"messages":[{"content":"p","role":"user"}]}']);
      expect(judged).toEqual([expect.stringContaining('From the dataset')]);
    });

    it('reads an output in the item, large or not', async () => {
      const from = (pointer: string): Provider => ({
        usesMessages: false,
        outputSource: { from: 'pointer', pointer },
        complete: async () => expect.unreachable(),
      });
      const item = large({ answer: noise, checker: 'exact_match' });
      expect(await onThread(item, from('/meta/noise'))).toMatchObject({
        status: 'ok',
        score: 1,
        output: new JsonText(JSON.stringify(noise)),
      });
      expect(await onThread(item, from('/id'))).toMatchObject({ status: 'ok', score: 0, output: 'big' });
      expect(await onThread(item, from('/id/x'))).toMatchObject({
        itemId: 'big',
        status: 'failed',
        error: { code: 'field_missing', message: 'The item has no value at "/id/x".' },
      });
    });

    it('fails an item with too many values and one without a prompt', async () => {
      const zeros = new Array<number>(250_001).fill(0);
      const seen: string[] = [];
      expect(await onThread(large({ inputs: { choices: zeros } }), asked('x', seen))).toMatchObject({
        itemId: 'big',
        status: 'failed',
        error: { code: 'item_too_large' },
      });
      expect(await onThread(large({ inputs: {} }), asked('x', seen))).toMatchObject({
        status: 'failed',
        error: { code: 'item_without_prompt' },
      });
      expect(seen).toEqual([]);
    });

    it('checks a large output of a small item', async () => {
      const item = { answer: noise, checker: 'exact_match', inputs: { prompt: 'p' } };
      expect(
        await onThread(
          item,
          provider(async () => noise),
        ),
      ).toMatchObject({ status: 'ok', score: 1 });
    });
  });

  it('needs no prompt for a provider that uses no messages', async () => {
    const session = new MemorySession([{ answer: 'x', checker: 'exact_match' }]);
    await run(
      session,
      provider(async () => 'x', false),
    );
    expect(session.results.get('0#1')).toMatchObject({ status: 'ok', passed: true });
  });

  it('ends as failed if every item would fail, and keeps its results', async () => {
    const session = new MemorySession(items(100));
    const refused = provider(async (request) => {
      if (lastText(request) === 'Q5')
        throw new RunError('provider_unauthorized', 'the key was refused', { endsRun: true });
      return 'x';
    });
    const end: RunEnd = {
      status: 'failed',
      error: { code: 'provider_unauthorized', message: 'the key was refused' },
    };
    expect(await run(session, refused, { config: { ...CONFIG, repetitions: 1, concurrency: 1 } })).toEqual(
      end,
    );
    expect(session.ends).toEqual([end]);
    expect(session.results.size).toBe(5);
    expect(session.closed).toBe(true);
  });

  it('ends as cancelled: aborts running calls and keeps its results', async () => {
    const session = new MemorySession(items(100));
    const controller = new AbortController();
    let aborted = 0;
    const slow = provider(async (request, signal) => {
      if (['Q0', 'Q1', 'Q2'].includes(lastText(request))) return 'x';
      if (lastText(request) === 'Q6') controller.abort(runCancelled());
      await new Promise((_, reject) => {
        const stop = (): void => {
          aborted += 1;
          reject(signal.reason);
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
      });
      return 'never';
    });
    expect(await run(session, slow, { signal: controller.signal })).toEqual({ status: 'cancelled' });
    expect(session.ends).toEqual([{ status: 'cancelled' }]);
    expect([...session.results.keys()].sort()).toEqual(['0#1', '1#1', '2#1']);
    expect(aborted).toBe(4);
    expect(session.closed).toBe(true);
  });

  it('does not end when its worker stops, and continues on another one', async () => {
    const session = new MemorySession(items(20));
    const controller = new AbortController();
    const stopping = provider(async (request) => {
      if (lastText(request) === 'Q10') controller.abort(new Error('draining'));
      return lastText(request);
    });
    await expect(run(session, stopping, { signal: controller.signal })).rejects.toThrow('draining');
    expect(session.ends).toEqual([]);
    const before = session.results.size;
    expect(before).toBeGreaterThan(0);
    let calls = 0;
    const counted = provider(async (request) => {
      calls += 1;
      return lastText(request);
    });
    expect(await run(session, counted)).toEqual({ status: 'completed' });
    expect([calls, session.results.size]).toEqual([20 - before, 20]);
  });

  it('does not end when the store fails', async () => {
    const session = new MemorySession(items(20));
    session.saveResults = async () => {
      throw new Error('database gone');
    };
    await expect(run(session, echo)).rejects.toThrow('database gone');
    expect(session.ends).toEqual([]);
  });

  it('holds only the items in progress', async () => {
    let most = 0;
    let pulled = 0;
    let done = 0;
    const session = new MemorySession([]);
    session.items = async function* () {
      for (let orderIndex = 0; orderIndex < 5_000; orderIndex++) {
        pulled += 1;
        most = Math.max(most, pulled - done);
        yield {
          section: 's',
          sectionOrderIndex: 0,
          orderIndex,
          parts: stored({ inputs: { prompt: 'p' } }),
          doneRepetitions: [],
        };
      }
    };
    session.saveResults = async (results) => {
      done += results.length;
      await new Promise((resolve) => setImmediate(resolve));
    };
    await run(session, echo, { config: { ...CONFIG, repetitions: 1, concurrency: 8 } });
    expect(done).toBe(5_000);
    expect(most).toBeLessThanOrEqual(64 + 8 + 1);
  });

  it('asks the judge model of the run', async () => {
    const session = new MemorySession([{ inputs: { prompt: 'p' }, checker: { type: 'judge' } }]);
    const judge = provider(async (request) => {
      expect(lastText(request)).toContain('From the dataset');
      return '{"score": 0.6, "explanation": "fair"}';
    });
    const config: typeof CONFIG = {
      ...CONFIG,
      judge: {
        ...{ type: 'openai_compatible', base_url: '', model: '', params: {}, threshold: 0.7 },
      },
    };
    await run(session, echo, { config, defaultJudgePrompts: 'From the dataset' }, judge);
    expect(session.results.get('0#1')).toMatchObject({
      status: 'ok',
      score: 0.6,
      passed: false,
      explanation: 'fair',
      output: 'p',
    });
  });

  it('leaves items without a checker unscored', async () => {
    const session = new MemorySession([{ inputs: { prompt: 'p' } }]);
    await run(session, echo);
    expect(session.results.get('0#1')).toMatchObject({
      status: 'unscored',
      output: 'p',
      score: null,
      passed: null,
      error: null,
    });
  });
});
