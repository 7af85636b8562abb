import type { StoredResult } from '@svc/store';
import type { TableColumn } from '@svc/tabular/write';

const plain = (value: number | boolean | null): string | null => (value === null ? null : String(value));

const text = (value: string | null): string | null => (value === null ? null : JSON.stringify(value));
const hexText = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : `"${Buffer.from(bytes).toString('hex')}"`;

/** The columns of a table of results, in their default order. */
export const RESULT_COLUMNS: readonly TableColumn<StoredResult>[] = [
  { name: 'section', type: 'string', json: (result) => JSON.stringify(result.section) },
  { name: 'order_index', type: 'int64', json: (result) => plain(result.orderIndex) },
  { name: 'item_id', type: 'string', json: (result) => result.itemId },
  { name: 'repetition', type: 'int64', json: (result) => plain(result.repetition) },
  { name: 'status', type: 'string', json: (result) => `"${result.status}"` },
  { name: 'output', type: 'string', json: (result) => result.output },
  { name: 'score', type: 'double', json: (result) => plain(result.score) },
  { name: 'passed', type: 'bool', json: (result) => plain(result.passed) },
  { name: 'explanation', type: 'string', json: (result) => result.explanation },
  { name: 'error', type: 'json', json: (result) => result.error },
  { name: 'latency_ms', type: 'double', json: (result) => plain(result.latencyMs) },
  { name: 'usage', type: 'json', json: (result) => result.usage },
  { name: 'judge_usage', type: 'json', json: (result) => result.judgeUsage },
  { name: 'item_hash', type: 'string', json: ({ itemHash }) => hexText(itemHash) },
  { name: 'finish_reason', type: 'string', json: (result) => text(result.finishReason) },
  { name: 'truncated', type: 'bool', json: (result) => plain(result.truncated) },
  { name: 'attempts', type: 'int64', json: (result) => plain(result.attempts) },
  { name: 'omitted_assets', type: 'json', json: (result) => result.omittedAssets },
];
