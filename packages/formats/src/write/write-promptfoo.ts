import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ExportResult } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { itemFiles, OWN_ITEM } from '../messages.ts';
import { elementsOf, filled, isFilled, memberOf, membersOf, textOf } from '../read-json.ts';
import { assertionsOf } from '../tools/promptfoo-assertions.ts';
import { askedMessages, letteredChoices, modelOf, tokensOf } from './item-texts.ts';
import { itemLines, type SourceItem, samplesOf, type ToolSource, type WriteContext } from './tool-source.ts';

/**
 * A text that promptfoo takes as it is, neither as a template nor as the address of a file: the value of a template holds
 * what would begin one. A raw block would end where the text says so.
 */
export function literal(text: string): string {
  return text
    .replaceAll(/\{[{%#]/g, (opening) => `{{ "${opening}" }}`)
    .replace(/^[fph](?=(?:ile|ackage|ttps?):\/\/)/, (first) => `{{ "${first}" }}`);
}

export function promptfooTests(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  return itemLines(source, context, toTest);
}

function toTest({ item, itemHash }: SourceItem, place: Place): JsonObject {
  place.lost('files of items', itemFiles(item).length);
  const inputs = membersOf(item['inputs']);
  const messages = elementsOf(inputs['messages']);
  const choices = letteredChoices(item);
  const text = (value: JsonValue | undefined): string | null => {
    const found = textOf(value);
    return found === null ? null : literal(found);
  };
  return {
    // An array would make a test of each element.
    vars: filled({
      prompt: text(inputs['prompt']),
      system_prompt: text(inputs['system_prompt']),
      messages: messages.length === 0 ? null : literal(canonicalJson([...messages])),
      choices: choices.length === 0 ? null : literal(choices.join('\n')),
    }),
    assert: assertionsOf(item, literal, place),
    metadata: { item_hash: itemHash, [OWN_ITEM]: canonicalJson(item) },
  };
}

export async function* promptfooResults(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  const { run, name, versionHash } = source;
  const model = modelOf(run);
  const timestamp = run?.finishedAt ?? run?.startedAt ?? '1970-01-01T00:00:00.000Z';
  const provider = { id: model, label: '' };
  const prompt = { raw: '{{prompt}}', label: '{{prompt}}', provider: model };
  yield `{"evalId":${JSON.stringify(`eval-${run?.id || timestamp}`)},"results":{"version":3,"timestamp":${JSON.stringify(timestamp)},"prompts":${canonicalJson([prompt])},"results":[`;
  const stats = { successes: 0, failures: 0, errors: 0 };
  let start = '';
  let testIdx = 0;
  for await (const sample of samplesOf(source)) {
    const place = context.lost.at({ file: sample.section });
    const test = toTest(sample, place);
    for (const result of sample.results) {
      const { status, passed = null } = result;
      if (status === 'failed') stats.errors += 1;
      else if (passed === true) stats.successes += 1;
      else stats.failures += 1;
      if (status !== 'failed' && passed === null) {
        place.lost('results that have neither passed nor failed');
      }
      yield `${start}${canonicalJson(toResult(sample, test, result, { testIdx, provider }))}`;
      start = ',';
      testIdx += 1;
    }
  }
  const description = run?.name ?? name;
  const config = {
    description,
    prompts: ['{{prompt}}'],
    providers: [model],
    metadata: { dataset_version_hash: versionHash },
  };
  yield `],"stats":${canonicalJson(stats)}},"config":${canonicalJson(config)},"shareableUrl":null}`;
}

function toResult(
  { item }: SourceItem,
  test: JsonObject,
  result: ExportResult,
  { testIdx, provider }: { readonly testIdx: number; readonly provider: JsonObject },
): JsonObject {
  const {
    output = null,
    score = null,
    passed = null,
    explanation = null,
    error = null,
    usage = null,
  } = result;
  const failed = result.status === 'failed';
  const messages = askedMessages(item);
  const [only] = messages;
  const raw =
    messages.length === 1 && typeof only?.['content'] === 'string'
      ? only['content']
      : canonicalJson([...messages]);
  const namedScores = Object.fromEntries(
    Object.entries(membersOf(result.scores)).map(([name, one]) => [name, memberOf(one, 'score')] as const),
  );
  const { input_tokens: input, output_tokens: written } = tokensOf(usage);
  const message = textOf(memberOf(error, 'message'));
  return {
    ...{
      id: `result-${testIdx}`,
      promptIdx: 0,
      testIdx,
      promptId: 'prompt',
      provider,
      testCase: test,
      vars: test['vars'] ?? {},
    },
    prompt: { raw, label: '{{prompt}}' },
    response: filled({
      output,
      error: failed ? message : null,
      tokenUsage: isFilled(usage) ? { prompt: input, completion: written, total: input + written } : null,
      finishReason: result.finish_reason ?? null,
    }),
    ...{ error: failed ? (message ?? 'failed') : null, failureReason: failed ? 2 : passed === false ? 1 : 0 },
    ...{
      success: !failed && passed === true,
      score: score ?? 0,
      ...filled({ latencyMs: result.latency_ms ?? null }),
    },
    gradingResult:
      score === null ? null : { pass: passed === true, score, reason: textOf(explanation) ?? '' },
    namedScores: filled(namedScores),
    metadata: {},
  };
}
