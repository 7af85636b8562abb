import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ExportResult } from '@svc/pkg-format';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { type ToolSource, writeTool } from '../src/index.ts';

const SCHEMAS = '../../../conformance/formats/every-eval-ever/';
const ajv = new Ajv({ strict: false, allErrors: true });
const validatorOf = async (name: string): Promise<(value: unknown) => unknown> => {
  const text = await readFile(new URL(`${SCHEMAS}${name}.schema.json`, import.meta.url), 'utf8');
  const validate = ajv.compile(JSON.parse(text));
  return (value) => (validate(value) ? null : validate.errors);
};

const score = (score: number | null, passed: boolean | null, explanation = 'e'): object => ({
  ...{ score, passed, explanation, scored_by: 'checker' },
});
function sourceOf(scores: readonly (Record<string, object> | null)[], config = {}): ToolSource {
  return {
    ...{ name: 'Größe / 1', versionHash: 'ab'.repeat(32), itemCount: 3 },
    async *items() {
      for (let orderIndex = 0; orderIndex < 3; orderIndex += 1) {
        const inputs = { system_prompt: 'Be brief.', prompt: `é ${orderIndex}?`, choices: ['a', 'b'] };
        const item = { id: orderIndex, inputs, answer: 'a', meta: { level: 1 }, criteria: ['c'] };
        yield [{ section: 's', orderIndex, itemHash: 'cd'.repeat(32), item }];
      }
    },
    run: {
      ...{
        id: '1b671a64-40d5-491e-99b0-da01ff1f3341',
        name: 'r',
        status: 'completed',
        startedAt: null,
        error: null,
      },
      finishedAt: '2026-01-02T03:04:05.000Z',
      config: {
        provider: { type: 'openai_compatible', model: 'org/model:7b', params: { temperature: 0 } },
        ...config,
      },
      async *results() {
        for (const [index, one] of scores.entries()) {
          yield [
            {
              ...{
                section: 's',
                order_index: index % 3,
                repetition: 1,
                status: 'ok',
                output: 'a',
                scores: one,
              },
              ...{
                reasoning: 'so',
                latency_ms: 1.5,
                finish_reason: 'stop',
                error: null,
                score: null,
                passed: null,
              },
              usage: { prompt_tokens: 3, completion_tokens: 1 },
            } as unknown as ExportResult,
          ];
        }
      },
    },
  };
}
async function write(
  source: ToolSource,
): Promise<{ files: [string, string][]; record: Record<string, unknown> }> {
  const files: [string, string][] = [];
  for await (const { name, bytes } of (await writeTool('every-eval-ever', source)).files()) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    files.push([name, Buffer.concat(chunks).toString()]);
  }
  return { files, record: JSON.parse(files.at(-1)?.[1] ?? '') };
}

it('writes records of Every Eval Ever that its schemas allow', async () => {
  const { files, record } = await write(
    sourceOf([
      { exact: score(1, true), grade: score(0.4, null) },
      { exact: score(0, false), grade: score(1, true) },
      null,
    ]),
  );
  expect(files.map(([name]) => name.replace(/[0-9a-f-]{36}/, '<uuid>'))).toEqual([
    'data/Gr-e-1/org/model-7b/<uuid>_samples.jsonl',
    'data/Gr-e-1/org/model-7b/<uuid>.json',
  ]);
  expect(files[1]?.[0]).toMatch(/\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}\.json$/);
  expect((await validatorOf('eval'))(record)).toBeNull();
  const [name = '', text = ''] = files[0] ?? [];
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const validate = await validatorOf('instance_level_eval');
  for (const row of rows) expect(validate(row)).toBeNull();
  expect(record).toMatchObject({
    schema_version: '0.3.0',
    model_info: { id: 'org/model-7b', name: 'org/model:7b', developer: 'org' },
    evaluation_results: [
      { evaluation_name: 'exact', score_details: { score: 0.5, uncertainty: { num_samples: 2 } } },
      { evaluation_name: 'grade', score_details: { score: 0.7, details: { passed: '1', failed: '0' } } },
    ],
    eval_library: {
      additional_details: {
        'without a place: scores without a verdict': '1',
        'without a place: results without a score': '1',
        'without a place: criteria': '3',
        'without a place: meta': '3',
      },
    },
    detailed_evaluation_results: {
      ...{ file_path: name, total_rows: 3, checksum: createHash('sha256').update(text).digest('hex') },
    },
  });
  // Scores of 1 and 0 of two items: sqrt(2 / 1 * (0.25 + 0.25)) / 2.
  expect(record).toHaveProperty('evaluation_results.0.score_details.uncertainty.standard_error.value', 0.5);
  expect(rows.map((row) => [row.evaluation_result_id, row.sample_id, row.evaluation])).toEqual([
    ['exact', '0', { score: 1, is_correct: true }],
    ['exact', '1', { score: 0, is_correct: false }],
    ['grade', '1', { score: 1, is_correct: true }],
  ]);
  // hashlib.sha256(json.dumps({"raw": raw, "reference": ["a"]}, sort_keys=True, separators=(",", ":")).encode())
  expect(rows[0].sample_hash).toBe('b4bee262642baa8449fe3364264e09e787eddab21c0c08842daf2e8e59deada3');
  expect(rows[0]).toMatchObject({
    ...{ model_id: 'org/model-7b', output: { raw: ['a'], reasoning_trace: ['so'] } },
    token_usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
  });
});

it('writes a run without any verdict as its record alone, and no dataset', async () => {
  const source = sourceOf([{ grade: score(0.4, null) }, null]);
  const { files, record } = await write(source);
  expect(files).toHaveLength(1);
  expect((await validatorOf('eval'))(record)).toBeNull();
  expect(record).not.toHaveProperty('detailed_evaluation_results');
  await expect(writeTool('every-eval-ever', { ...source, run: null })).rejects.toThrow(
    'A dataset cannot be written as every-eval-ever.',
  );
});
