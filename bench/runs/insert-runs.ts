import { randomUUID } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { shell } from '../shell.ts';

/** Two runs of one dataset, with as many results as it has items. */
export interface InsertedRuns {
  readonly datasetId: string;
  readonly runId: string;
  readonly otherRunId: string;
}

const SECTIONS = 10;
const TYPES = `(ARRAY['freeform', 'numeric', 'exact'])[1 + n % 3]`;
/** One of five tags, and of 200. */
const TAG = `'topic-' || n % 5`;
const SECOND_TAG = `'level-' || n * 7 % 200`;
const WORDS = `(ARRAY['what','number','apples','remain','people','share','them','gives','away','noon','market','friend'])`;

/**
 * Inserts a dataset and two runs that have ended: outputs of about 300 bytes, 2 % failed, 1 % unscored, 3 % cut at the
 * token limit, two thirds of the rest passed. A million provider requests would take hours.
 */
export async function insertRuns({ psql, settle }: Bench, results: number): Promise<InsertedRuns> {
  const [datasetId, runId, otherRunId] = [randomUUID(), randomUUID(), randomUUID()];
  const perSection = Math.ceil(results / SECTIONS);
  const statements = [
    `INSERT INTO datasets (id, name, source, schema) VALUES ('${datasetId}', 'large', 'file', '{"source":"file"}')`,
    `INSERT INTO parts (id, dataset_id, item_count)
     SELECT gen_random_uuid(), '${datasetId}', least(${perSection}, ${results} - n * ${perSection})
     FROM generate_series(0, ${SECTIONS - 1}) AS n`,
    `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, part_ids, starts, firsts)
     SELECT id, '${datasetId}', 'section ' || row_number() OVER (ORDER BY item_count DESC, id) - 1, item_count, '\\x00', ARRAY[id], '{0}', '{0}'
     FROM parts WHERE dataset_id = '${datasetId}'`,
    `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, source)
     SELECT '${datasetId}', 1, repeat('a', 64), array_agg(id ORDER BY item_count DESC, id), ${results}, 0, 'upload'
     FROM sections WHERE dataset_id = '${datasetId}'`,
    `INSERT INTO items (part_id, ordinal, byte_length, item_hash, type, payload, answer)
     SELECT s.id, n - s.order_index * ${perSection}, 150, sha256(convert_to('item ' || n, 'UTF8')), ${TYPES},
       ('{"id":"q' || n || '","inputs":{"prompt":"Question ' || n || ': how many apples remain after the market closes at noon?"},"tags":["' || ${TAG} || '","' || ${SECOND_TAG} || '"]}')::json,
       ('"' || n || '"')::json
     FROM version_sections s CROSS JOIN LATERAL generate_series(s.order_index * ${perSection}, s.order_index * ${perSection} + s.item_count - 1) AS n
     WHERE s.dataset_id = '${datasetId}'`,
    ...[runId, otherRunId].flatMap((id, index) => runStatements(id, datasetId, index)),
    'VACUUM ANALYZE',
  ];
  for (const sql of statements)
    await shell(`psql -q -v ON_ERROR_STOP=1 "$PGURL" <<'SQL'\n${sql};\nSQL`, psql);
  await settle();
  return { datasetId, runId, otherRunId };
}

function runStatements(id: string, datasetId: string, salt: number): readonly string[] {
  const words = `array_to_string(ARRAY(SELECT ${WORDS}[1 + (hashint4(n * 50 + word + ${salt}) & 2147483647) % 12] FROM generate_series(1, 45) AS word), ' ')`;
  const chance = `(hashint4(n * 2 + ${salt}) & 2147483647) % 100`;
  return [
    `INSERT INTO runs (id, dataset_id, dataset_version, dataset_version_hash, name, status, config, total, started_at, finished_at)
     SELECT '${id}', dataset_id, version, version_hash, 'large', 'completed', '{"provider":{"type":"echo"}}', item_count, now(), now()
     FROM versions WHERE dataset_id = '${datasetId}'`,
    `INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, item_id, status, output, score,
       passed, error, latency_ms, usage, item_hash, item_type, tags, finish_reason, truncated, attempts, omitted_assets,
       input_tokens, output_tokens)
     SELECT '${id}', s.order_index, range.start + i.ordinal, 1, s.name, (i.payload -> 'id')::text, status,
       CASE WHEN status <> 'failed' THEN '"' || ${words} || ' #### ' || n || '"' END,
       CASE WHEN status = 'ok' THEN (chance < 69)::int END, CASE WHEN status = 'ok' THEN chance < 69 END,
       CASE WHEN status = 'failed' THEN '{"code":"provider_timeout","message":"The provider did not respond in time."}' END,
       500 + chance * 10, '{"prompt_tokens":40,"completion_tokens":60}', i.item_hash, i.type,
       ARRAY[${TAG}, ${SECOND_TAG}], CASE WHEN status <> 'failed' THEN CASE WHEN chance % 33 = 0 THEN 'length' ELSE 'stop' END END,
       status <> 'failed' AND chance % 33 = 0, 1, '[]', 40, 60
     FROM version_sections s CROSS JOIN LATERAL unnest(s.part_ids, s.starts) AS range (part_id, start)
       JOIN items i ON i.part_id = range.part_id CROSS JOIN LATERAL (
       SELECT substr(i.answer::text, 2, length(i.answer::text) - 2)::int AS n
     ) AS number CROSS JOIN LATERAL (
       SELECT ${chance} AS chance
     ) AS c CROSS JOIN LATERAL (
       SELECT CASE WHEN chance >= 98 THEN 'failed' WHEN chance = 97 THEN 'unscored' ELSE 'ok' END AS status
     ) AS st
     WHERE s.dataset_id = '${datasetId}' ORDER BY s.order_index, range.start + i.ordinal`,
    `UPDATE runs SET (ok, failed, unscored, scored, score_sum, passed, truncated, input_tokens, output_tokens, results_version) = (
       SELECT count(*) FILTER (WHERE status = 'ok'), count(*) FILTER (WHERE status = 'failed'),
         count(*) FILTER (WHERE status = 'unscored'), count(score), sum(score), count(*) FILTER (WHERE passed),
         count(*) FILTER (WHERE truncated), sum(input_tokens), sum(output_tokens), count(*)
       FROM run_results WHERE run_id = '${id}'
     ) WHERE id = '${id}'`,
  ];
}
