import { type JsonObject, type JsonStream, setMember } from '@svc/jsonl-v23/json';
import type { PackageLimits } from '@svc/pkg-format';
import { ValueBudget } from '../read-json.ts';

/** Characters that are read of a header. */
const MAX_HEADER_LENGTH = 1024 * 1024;
/** Members of a header that say something of a run; `eval` comes first. */
const OF_HEADER: ReadonlySet<string> = new Set(['version', 'status', 'eval', 'results', 'stats', 'error']);
const OF_EVAL: ReadonlySet<string> = new Set([
  ...['task', 'task_version', 'task_args', 'model', 'created', 'packages', 'solver', 'tags', 'config'],
  ...['model_generate_config', 'dataset'],
]);

/** Reads the members of a log's header that say something of its run. */
export class HeaderReader {
  readonly header: JsonObject = {};
  /** The places of the ids of samples that the archive has. */
  readonly order: Map<string, number> = new Map();
  readonly #budget: ValueBudget;
  readonly #ids: ReadonlySet<string>;

  constructor(limits: PackageLimits, ids: ReadonlySet<string> = new Set()) {
    this.#budget = new ValueBudget(limits, MAX_HEADER_LENGTH);
    this.#ids = ids;
  }

  /** Reads the next value, which is a member's. */
  async read(json: JsonStream, key: string): Promise<void> {
    if (!OF_HEADER.has(key)) return;
    if (key !== 'eval' || (await json.peek()) !== 'object') {
      setMember(this.header, key, await this.#budget.next(json));
      return;
    }
    const spec: JsonObject = {};
    for await (const name of json.members()) {
      if (!OF_EVAL.has(name)) continue;
      if (name === 'dataset') await this.#readDataset(json);
      else setMember(spec, name, await this.#budget.next(json));
    }
    setMember(this.header, key, spec);
  }

  /** A dataset may have any number of ids: only ids of the archive are kept. */
  async #readDataset(json: JsonStream): Promise<void> {
    if ((await json.peek()) !== 'object') return;
    for await (const name of json.members()) {
      if (name !== 'sample_ids' || this.#ids.size === 0 || (await json.peek()) !== 'array') continue;
      for await (const index of json.items()) {
        // Once all are found, further ones are passed over.
        if (this.order.size === this.#ids.size) continue;
        const { text } = await json.text(MAX_ID_VALUES);
        const id = text.startsWith('"') ? String(JSON.parse(text)) : text;
        if (this.#ids.has(id) && !this.order.has(id)) this.order.set(id, index);
      }
    }
  }
}

const MAX_ID_VALUES = 16;
