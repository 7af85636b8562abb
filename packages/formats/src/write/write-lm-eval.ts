import { splitNames } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { Place } from '../lost.ts';
import { itemFiles, itemMessages, OWN_ITEM } from '../messages.ts';
import { isFilled, textOf } from '../read-json.ts';
import { letteredChoices, plainText } from './item-texts.ts';
import {
  itemLines,
  type SourceItem,
  type ToolSource,
  type WriteContext,
  type WrittenFile,
} from './tool-source.ts';

/** The name of the task, as lm-evaluation-harness takes it on its command line. */
const taskName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 100) || 'task';

/** A task folder: the items as JSON Lines, and `task.yaml`, which names the hub's split of the first section. */
export async function* lmEvalTask(source: ToolSource, context: WriteContext): AsyncGenerator<WrittenFile> {
  const sections = new Set<string>();
  const rows = itemLines(source, context, (item, place) => {
    sections.add(item.section);
    return toRow(item, place);
  });
  yield { name: 'items.jsonl', text: rows };
  const [split = 'default'] = splitNames([...sections]);
  yield { name: 'task.yaml', text: [taskYaml(taskName(source.name), source.versionHash, split)] };
}

function toRow({ item, itemHash, section }: SourceItem, place: Place): JsonObject {
  place.lost('files of items', itemFiles(item).length);
  if (item['checker'] !== undefined) place.lost('checkers');
  if (isFilled(item['criteria'])) place.lost('criteria');
  const messages = itemMessages(item);
  if (messages.length > 1) place.lost('roles of messages');
  const asked = messages.map(({ content = '' }) => plainText(content));
  const { answer = null, id = null } = item;
  const [first = null] = Array.isArray(answer) ? answer : [answer];
  if (Array.isArray(answer) && answer.length > 1) place.lost('further answers');
  if (first === null) place.lost('missing answers');
  return {
    id: typeof id === 'number' ? String(id) : (textOf(id) ?? itemHash),
    section,
    prompt: [...asked, ...letteredChoices(item)].join('\n'),
    answer: first === null ? '' : plainText(first),
    item_hash: itemHash,
    [OWN_ITEM]: canonicalJson(item),
  };
}

const taskYaml = (task: string, versionHash: string, split: string): string => `# Run it in this folder:
#   lm_eval --include_path . --tasks ${task} --log_samples --output_path results --model ...
# With a hub of your own (HF_ENDPOINT) leave dataset_kwargs out, and change two members:
#   dataset_path: svc/<handle of the dataset>
#   test_split: ${split}
# Its prompt is that of the item alone, without system prompt, messages and choices.
task: ${task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: items.jsonl
test_split: test
output_type: generate_until
doc_to_text: "{{prompt}}"
doc_to_target: "{{answer}}"
generation_kwargs:
  until: []
  do_sample: false
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: false
    ignore_punctuation: false
metadata:
  version: 1.0
${versionHash === '' ? '' : `  dataset_version_hash: ${versionHash}\n`}`;
