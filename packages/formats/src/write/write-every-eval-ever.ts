import { createHash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ExportResult } from '@svc/pkg-format';
import { contentText, itemFiles, itemMessages } from '../messages.ts';
import { filled, isFilled, memberOf, membersOf, numberOf, textOf } from '../read-json.ts';
import {
  countUnwritten,
  inspectChoices,
  mainScorerOf,
  namedScores,
  plainText,
  tokensOf,
} from './item-texts.ts';
import {
  type SourceItem,
  samplesOf,
  type ToolSource,
  type WriteContext,
  type WrittenFile,
} from './tool-source.ts';

const SCHEMA_VERSION = '0.3.0';
const MAX_NAME = 100;

/** What a scorer says of a run, added up: of all results, and of the results of each item. */
type Sums = ReturnType<typeof noSums>;

type Identity = ReturnType<typeof identify>;

/** A line for each score with a verdict, then the record of the run, which has their number and checksum. */
export async function* everyEvalEver(source: ToolSource, context: WriteContext): AsyncGenerator<WrittenFile> {
  const identity = identify(source, context);
  const scorers = new Map<string, Sums>();
  const lines = sampleLines(source, context, identity, scorers);
  const first = await lines.next();
  const file = { rows: 0, hash: createHash('sha256') };
  async function* text(): AsyncGenerator<string> {
    for (let next = first; next.done !== true; next = await lines.next()) {
      file.rows += 1;
      file.hash.update(next.value);
      yield next.value;
    }
  }
  const samplesPath = `${identity.path}_samples.jsonl`;
  if (first.done !== true) yield { name: samplesPath, text: text() };
  const samples: JsonObject | null =
    file.rows === 0
      ? null
      : {
          ...{ format: 'jsonl', file_path: samplesPath, hash_algorithm: 'sha256' },
          ...{ checksum: file.hash.digest('hex'), total_rows: file.rows },
        };
  yield {
    name: `${identity.path}.json`,
    text: [canonicalJson(toRecord(source, context, identity, scorers, samples))],
  };
}

function identify({ name, versionHash, run }: ToolSource, { model }: WriteContext) {
  const [, owner = 'unknown', bare = model] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
  const developer = portable(owner, 'unknown');
  const modelName = portable(bare, 'unknown');
  const collection = portable(name, `dataset-${versionHash.slice(0, 12)}`);
  const digest = createHash('sha256')
    .update(canonicalJson([run?.id ?? '', versionHash, model]))
    .digest('hex');
  // A number of version 4, which repeats if the run is exported again.
  const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  return {
    evaluationId: `${collection}/${developer}_${modelName}/${run?.id || digest.slice(0, 32)}`,
    modelId: `${developer}/${modelName}`,
    path: `data/${collection}/${developer}/${modelName}/${uuid}`,
  };
}

const portable = (text: string, otherwise: string): string =>
  /\w(?:[\w.-]*\w)?/.exec(text.replaceAll(/[^\w.-]+/g, '-').slice(0, MAX_NAME))?.[0] ?? otherwise;

async function* sampleLines(
  source: ToolSource,
  context: WriteContext,
  identity: Identity,
  scorers: Map<string, Sums>,
): AsyncGenerator<string, undefined> {
  const main = mainScorerOf(source.run);
  for await (const sample of samplesOf(source)) {
    const place = context.lost.at({ file: sample.section });
    place.lost('files of items', itemFiles(sample.item).length);
    countUnwritten(sample.item, ['id', 'type', 'answer', 'meta'], place);
    if (isFilled(sample.item['meta'])) place.lost('meta');
    const facts = itemFacts(sample);
    const ofItem = new Map<string, { count: number; sum: number }>();
    for (const result of sample.results) {
      const scores = namedScores(result, main);
      if (scores.length === 0) place.lost('results without a score');
      for (const [name, said] of scores) {
        const score = numberOf(said['score']) ?? 0;
        const passed = said['passed'] ?? null;
        const sums = scorers.get(name) ?? noSums();
        scorers.set(name, sums);
        sums.count += 1;
        sums.sum += score;
        if (passed === true) sums.passed += 1;
        if (passed === false) sums.failed += 1;
        const some = ofItem.get(name) ?? { count: 0, sum: 0 };
        ofItem.set(name, { count: some.count + 1, sum: some.sum + score });
        if (typeof passed !== 'boolean') place.lost('scores without a verdict');
        else yield `${canonicalJson(toLine(facts, identity, result, { name, said, score, passed }))}\n`;
      }
    }
    for (const [name, { count, sum }] of ofItem) {
      const sums = scorers.get(name) ?? noSums();
      sums.items += 1;
      sums.squares += sum * sum;
      sums.products += sum * count;
      sums.counts += count * count;
    }
  }
  return undefined;
}

const noSums = () => ({
  ...{ count: 0, sum: 0, passed: 0, failed: 0, items: 0 },
  // Sums over items of squared sums, of sums times counts, and of squared counts.
  ...{ squares: 0, products: 0, counts: 0 },
});

function itemFacts({ item, itemHash, section, orderIndex }: SourceItem) {
  const messages = itemMessages(item);
  const [only] = messages;
  const raw =
    messages.length === 1 && only?.['role'] === 'user'
      ? contentText(only['content'])
      : canonicalJson([...messages]);
  const { id = null, answer = null } = item;
  const reference = (Array.isArray(answer) ? answer : [answer]).filter((one) => one !== null).map(plainText);
  const { choices } = inspectChoices(item);
  return {
    line: {
      sample_id: id === null ? `${section}/${orderIndex}` : plainText(id),
      sample_hash: sampleHash(raw, reference),
      input: { raw, reference, choices: choices.length === 0 ? null : [...choices] },
    },
    metadata: { section, order_index: String(orderIndex), item_hash: itemHash },
  };
}

/** The hash that tells samples apart in all records: of JSON as Python writes it, with its keys sorted. */
function sampleHash(raw: string, reference: readonly string[]): string {
  const text = JSON.stringify({ raw, reference }).replaceAll(
    /[\x7f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return createHash('sha256').update(text).digest('hex');
}

function toLine(
  { line, metadata }: ReturnType<typeof itemFacts>,
  { evaluationId, modelId }: Identity,
  result: ExportResult,
  {
    name,
    said,
    score,
    passed,
  }: { readonly name: string; readonly said: JsonObject; readonly score: number; readonly passed: boolean },
): JsonObject {
  const { output = null, reasoning = null, usage = null, latency_ms: latency = null, error = null } = result;
  const texts = {
    ...{ explanation: said['explanation'] ?? null, scored_by: said['scored_by'] ?? result.scored_by ?? null },
    ...{ finish_reason: result.finish_reason ?? null, repetition: String(result.repetition) },
  };
  const message = isJsonObject(error) ? textOf(error['message']) : null;
  return {
    ...{ schema_version: SCHEMA_VERSION, evaluation_id: evaluationId, model_id: modelId },
    ...{ evaluation_name: name, evaluation_result_id: name, ...line, interaction_type: 'single_turn' },
    output: {
      raw: output === null ? [] : [plainText(output)],
      reasoning_trace: typeof reasoning === 'string' ? [reasoning] : null,
    },
    // The explanation says in words what of the output was read.
    ...{ answer_attribution: [], evaluation: { score, is_correct: passed } },
    ...(isFilled(usage) ? { token_usage: tokensOf(usage) } : {}),
    ...(typeof latency === 'number' ? { performance: { latency_ms: latency } } : {}),
    ...(message === null ? {} : { error: message }),
    metadata: { ...metadata, ...filled(texts) },
  };
}

function toRecord(
  { name, versionHash, itemCount, run }: ToolSource,
  { lost, model }: WriteContext,
  { evaluationId, modelId }: Identity,
  scorers: ReadonlyMap<string, Sums>,
  samples: JsonObject | null,
): JsonObject {
  const config = run?.config ?? {};
  const params = membersOf(config['params'] ?? memberOf(config['provider'] ?? null, 'params'));
  const { temperature = null, top_p: topP = null, max_tokens: maxTokens = null } = params;
  const generation = filled({
    temperature: numberOf(temperature),
    top_p: numberOf(topP),
    max_tokens: Number.isInteger(maxTokens) && Number(maxTokens) > 0 ? maxTokens : null,
  });
  const timestamp = run?.finishedAt ?? run?.startedAt ?? null;
  const tool = textOf(memberOf(config['imported_from'] ?? null, 'tool'));
  const dataset = {
    ...{ dataset_name: name, source_type: 'other' },
    additional_details: { version_hash: versionHash, items: String(itemCount) },
  };
  const details = {
    ...{ run_id: run?.id || null, run_name: run?.name ?? null, status: run?.status ?? null },
    ...{ error: run?.error ?? null, config: canonicalJson(config) },
  };
  const without = lost.list().map(({ what, count }) => [`without a place: ${what}`, String(count)]);
  return {
    ...{ schema_version: SCHEMA_VERSION, evaluation_id: evaluationId },
    ...(timestamp === null ? {} : { evaluation_timestamp: timestamp }),
    retrieved_timestamp: String(Math.floor(Date.now() / 1000)),
    source_metadata: {
      ...{ source_name: name, source_type: 'evaluation_run' },
      ...{ source_organization_name: 'unknown', evaluator_relationship: 'other' },
    },
    eval_library: {
      ...{ name: tool ?? 'svc', version: textOf(config['tool_version']) ?? 'unknown' },
      additional_details: { ...filled(details), ...Object.fromEntries(without) },
    },
    model_info: {
      ...{ name: model, id: modelId, developer: modelId.slice(0, modelId.indexOf('/')) },
      additional_details: { deployment_type: 'unknown', model_availability: 'unknown' },
    },
    evaluation_results: Array.from(scorers, ([scorer, sums]): JsonObject => {
      return {
        ...{ evaluation_result_id: scorer, evaluation_name: scorer, source_data: dataset },
        ...(timestamp === null ? {} : { evaluation_timestamp: timestamp }),
        metric_config: {
          ...{ metric_id: `svc.${scorer}`, metric_name: scorer, metric_unit: 'proportion' },
          ...{ lower_is_better: false, score_type: 'continuous', min_score: 0, max_score: 1 },
        },
        score_details: scoreDetails(sums, isFilled(config['cluster_by'])),
        ...(isFilled(generation) ? { generation_config: { generation_args: generation } } : {}),
      };
    }),
    ...(samples === null ? {} : { detailed_evaluation_results: samples }),
  };
}

/** Mean and standard error, which is clustered by items. @param isClustered whether the run has other clusters */
function scoreDetails(sums: Sums, isClustered: boolean): JsonObject {
  const { count, sum, items, squares, products, counts, passed, failed } = sums;
  const mean = sum / count;
  const spread = Math.max(0, squares - 2 * mean * products + mean * mean * counts);
  const error: JsonValue =
    items < 2 || isClustered ? null : Math.sqrt((items / (items - 1)) * spread) / count;
  return {
    score: mean,
    details: { passed: String(passed), failed: String(failed) },
    uncertainty: {
      ...(error === null ? {} : { standard_error: { value: error, method: 'analytic' } }),
      num_samples: count,
    },
  };
}
