import { createHash } from 'node:crypto';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { splitLines } from '@svc/jsonl-v23/lines';
import { describe, expect, it } from 'vitest';
import { createThreadReader, packResults, type ResultLines } from './thread-reader.ts';

const options = { maxLineBytes: 16 * 1024 * 1024, maxDepth: 100 };
const signal = new AbortController().signal;

/** Results with outputs of this length, and further members of each. */
async function lines(outputs: readonly number[], more: object = {}): Promise<ResultLines> {
  const text = outputs
    .map((chars, order_index) => {
      const output = '"é'.repeat(chars / 2);
      return JSON.stringify({ section: 's', order_index, item_id: 1, status: 'ok', output, ...more });
    })
    .join('\n');
  const source = (async function* () {
    yield new TextEncoder().encode(text);
  })();
  const [batch] = await Array.fromAsync(splitLines(source, { batchBytes: 64 * 1024 * 1024 }));
  if (batch === undefined) throw new Error('There is no line.');
  return { batch, options };
}

describe('a reader of results', () => {
  it('reads small and large batches alike, long texts as bytes', async () => {
    await using reader = createThreadReader();
    const more = { score: 0.5, passed: true, usage: { prompt_tokens: 3, x: [1e21] }, omitted_assets: ['a'] };
    const small = await reader.readPackaged(await lines([10], more), signal);
    expect(small).toEqual(packResults(await lines([10], more)));
    expect(small[0]?.result).toMatchObject({
      itemId: '1',
      usage: '{"prompt_tokens":3,"x":[1e+21]}',
      omittedAssets: '["a"]',
      explanation: null,
      tokens: { model: { input: 3, output: null }, judge: { input: null, output: null } },
    });
    const large = await reader.readPackaged(await lines([10, 1_000_000, 30_000], more), signal);
    expect(large).toEqual(packResults(await lines([10, 1_000_000, 30_000], more)));
    expect(large.map(({ result }) => typeof result.output)).toEqual(['string', 'object', 'string']);
  });

  it('gives the error of a line with its place', async () => {
    await using reader = createThreadReader();
    const errors = await Promise.all(
      [{ score: 2 }, { status: null }].flatMap((more) =>
        [10, 100_000].map(async (chars) =>
          reader.readPackaged(await lines([10, chars], more), signal).catch((error) => {
            const { name, code, message, location, entry } = error;
            return { name, code, message, location, entry };
          }),
        ),
      ),
    );
    expect(errors[0]).toMatchObject({ code: 'package_invalid_line', location: { line: 1, path: '/score' } });
    expect(errors[1]).toEqual(errors[0]);
    expect(errors[3]).toEqual(errors[2]);
  });

  it('ends with its signal, and when it takes too long', async () => {
    await using reader = createThreadReader(1);
    const abort = new AbortController();
    const reading = reader.readPackaged(await lines([400_000]), abort.signal);
    abort.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
    await expect(reader.readPackaged(await lines([6_000_000]), signal)).rejects.toMatchObject({
      code: 'package_limit',
      location: { file: 'results.jsonl', line: 1 },
    });
  });
});

describe('a body with edits', () => {
  const bodyOf = (prompt: string): Uint8Array<ArrayBuffer> =>
    new TextEncoder().encode(
      `{"edits": [{"item": {"inputs": {"prompt": ${JSON.stringify(prompt)}}, "id": 12345678901234567890},
        "item_id": 12345678901234567890}, {"item_id": "1", "remove": true}, {"item": []}, null], "message": "m"}`,
    );

  it('is read alike, short or long, with its items as lines and every digit of its ids', async () => {
    await using reader = createThreadReader();
    for (const chars of [10, 3_000_000]) {
      const bytes = bodyOf('x'.repeat(chars));
      const body = await reader.readEdits({ bytes, maxDepth: 10 }, signal);
      const line = `{"id":12345678901234567890,"inputs":{"prompt":"${'x'.repeat(chars)}"}}\n`;
      const sha256 = createHash('sha256').update(line).digest('hex');
      expect(body).toEqual({
        edits: [
          { item: { line: new TextEncoder().encode(line), sha256 }, item_id: '12345678901234567890' },
          { item_id: '"1"', remove: true },
          { item: [] },
          null,
        ],
        message: 'm',
      });
    }
  });

  it('takes as many values in each edit as an item may have', async () => {
    await using reader = createThreadReader();
    const read = (edits: readonly string[]): Promise<JsonValue> =>
      reader.readEdits({ bytes: new TextEncoder().encode(`{"edits":[${edits}]}`), maxDepth: 10 }, signal);
    const edit = (values: number): string => `{"item_id":1,"item":{"v":[${Array(values).fill(0)}]}}`;
    const { edits } = (await read(Array(20).fill(edit(30_000)))) as { edits: unknown[] };
    expect(edits).toHaveLength(20);
    await expect(read([edit(1), edit(250_000)])).rejects.toMatchObject({
      code: 'line_too_long',
      location: { path: '/edits/1' },
    });
  });

  it('lets the event loop turn while a long one is read', async () => {
    await using reader = createThreadReader(180_000);
    const reading = reader.readEdits({ bytes: bodyOf('x'.repeat(5_000_000)), maxDepth: 10 }, signal);
    let isRead = false;
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      if (!isRead) setImmediate(turn);
    };
    turn();
    await reading;
    isRead = true;
    expect(turns).toBeGreaterThan(20);
  });

  it('has the same errors, short or long', async () => {
    await using reader = createThreadReader();
    for (const blanks of [0, 100_000]) {
      const read = (text: string): Promise<unknown> =>
        reader.readEdits({ bytes: Buffer.from(' '.repeat(blanks) + text, 'latin1'), maxDepth: 10 }, signal);
      await expect(read('{"edits": [}')).rejects.toMatchObject({
        code: 'invalid_json',
        location: { line: 1, column: blanks + 12, path: '/edits/0' },
      });
      await expect(read('{"edits": [{} {}]}')).rejects.toMatchObject({ code: 'invalid_json' });
      await expect(read('"\xff"')).rejects.toMatchObject({ code: 'invalid_utf8' });
    }
  });
});
