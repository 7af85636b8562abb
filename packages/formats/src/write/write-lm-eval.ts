import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { itemImages, itemMessages } from '../messages.ts';
import { OWN_ITEM } from '../own-item.ts';
import { textOf } from '../read-json.ts';
import { letteredChoices, plainText } from './item-texts.ts';
import type { SourceItem, ToolSource, WriteContext, WrittenFile } from './tool-source.ts';

/** The name of the task, as lm-evaluation-harness takes it on its command line. */
const taskName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 100) || 'task';

/** A task folder: `task.yaml`, and the items as JSON Lines. */
export async function* lmEvalTask(source: ToolSource, context: WriteContext): AsyncGenerator<WrittenFile> {
  yield { name: 'task.yaml', text: [taskYaml(taskName(source.name), source.versionHash)] };
  async function* rows(): AsyncGenerator<string> {
    for await (const batch of source.items()) {
      yield batch.map((item) => `${canonicalJson(toRow(item, context))}\n`).join('');
    }
  }
  yield { name: 'items.jsonl', text: rows() };
}

function toRow({ item, itemHash, section }: SourceItem, { lost }: WriteContext): JsonObject {
  const location = { file: section };
  const { images, others } = itemImages(item);
  lost.add('files of items', location, images.length + others);
  if (item['checker'] !== undefined) lost.add('checkers', location);
  const messages = itemMessages(item);
  if (messages.length > 1) lost.add('roles of messages', location);
  const asked = messages.map(({ content = '' }) => plainText(content));
  const { answer = null, id = null } = item;
  const [first = null] = Array.isArray(answer) ? answer : [answer];
  if (Array.isArray(answer) && answer.length > 1) lost.add('further answers', location);
  return {
    id: typeof id === 'number' ? String(id) : (textOf(id) ?? itemHash),
    section,
    question: [...asked, ...letteredChoices(item)].join('\n'),
    answer: first === null ? '' : plainText(first),
    item_hash: itemHash,
    [OWN_ITEM]: canonicalJson(item),
  };
}

const taskYaml = (task: string, versionHash: string): string => `# Run it in this folder:
#   lm_eval --include_path . --tasks ${task} --log_samples --output_path results --model ...
# With a hub of your own (HF_ENDPOINT), put the name of the dataset into dataset_path and leave dataset_kwargs out.
task: ${task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: items.jsonl
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
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
  dataset_version_hash: ${versionHash}
`;
