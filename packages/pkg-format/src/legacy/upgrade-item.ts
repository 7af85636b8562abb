import type { SourceLocation } from '@svc/jsonl-v23';
import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { PlainLineCollector } from '@svc/jsonl-v23/lines';
import { isConversation } from '@svc/jsonl-v23/mapping';
import { PackageError } from '../errors.ts';
import { type AssetUpgrade, upgradeAssets } from './upgrade-assets.ts';

/** One kind of change, the number of times it was made, and the location of the first. */
export interface ReportedChange extends ItemChange {
  readonly count: number;
  readonly first: SourceLocation;
}

/** The result of a conversion. */
export interface ConversionReport {
  /** The file that was written. */
  readonly output: string;
  readonly name: string;
  /** Lower-case hex. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly sections: { name: string; from: string; itemCount: number }[];
  /** Number of files in `assets/` and `checkers/`. */
  readonly fileCount: number;
  /** In the order of their first occurrence. */
  readonly changes: ReportedChange[];
  /** Files that do not belong to the format and were copied unchanged. */
  readonly carried: string[];
  /** True if the archive was a package of this format already, so that only the generator's version is new. */
  readonly alreadyNew: boolean;
}

export class ChangeCounter {
  readonly #changes = new Map<string, { change: ItemChange; count: number; first: SourceLocation }>();

  add(change: ItemChange, location: SourceLocation): void {
    const key = [change.what, change.from, change.to].join('\0');
    const known = this.#changes.get(key);
    if (known) known.count += 1;
    else this.#changes.set(key, { change, count: 1, first: location });
  }

  list(): ReportedChange[] {
    return Array.from(this.#changes.values(), ({ change, count, first }) => ({ ...change, count, first }));
  }
}

export interface ItemChange {
  /**
   * `moved`: a value has a new path. `clash`: it kept its path, because the new path has another value. `kept`: it kept its
   * path, because the new path does not allow its type. `applied`: a value of the whole dataset was added. `asset`: content
   * became a file of the package. `removed`: a null that the format does not allow.
   */
  readonly what: 'moved' | 'clash' | 'kept' | 'applied' | 'asset' | 'removed';
  /** Old and new path, with dots; `to` is empty for `removed`. */
  readonly from: string;
  readonly to: string;
}

/** Prompts of a legacy archive for the whole dataset, or for one of its files. */
export interface DatasetPrompts {
  readonly areNone: boolean;
  readonly systemPrompt: string | null;
  judgePrompt(type: string, section: string): string | null;
}

export interface UpgradeContext {
  readonly section: string;
  readonly prompts: DatasetPrompts;
  readonly location: SourceLocation;
  resolveFile(reference: string): string | null;
}

export interface UpgradedItem {
  readonly item: JsonObject;
  readonly changes: ItemChange[];
  /** Files of the archive to embed, by the JSON Pointer of their entry. */
  readonly files: ReadonlyMap<string, string>;
}

/* Paths of members, with dots; members of other objects are not looked at. */
const SYSTEM_PROMPT = 'inputs.system_prompt';
const JUDGE_PROMPT = 'meta.judge_prompt';
const PROMPT = 'inputs.prompt';
const MESSAGES = 'inputs.messages';

const isText = (value: JsonValue): boolean => typeof value === 'string';
const isTextOrNull = (value: JsonValue): boolean => value === null || isText(value);
const areMessages = (value: JsonValue): boolean =>
  isConversation(value) || (Array.isArray(value) && value.length === 0);

/** Where legacy items have their system prompt. */
const SYSTEM_PROMPTS = ['system_prompt', 'system', 'inputs.system', 'prompt.system'];

/** Where legacy items have other values, the path at which each belongs, and what it may be there. */
const MOVES: readonly [sources: string[], target: string, accepts: (value: JsonValue) => boolean][] = [
  [
    ['judge_prompt', 'judge.prompt', 'grader_prompt', 'checker.judge_prompt', 'inputs.judge_prompt'],
    JUDGE_PROMPT,
    isTextOrNull,
  ],
  [['prompt', 'question', 'input', 'prompt.user', 'prompt.text'], PROMPT, isText],
  [['messages'], MESSAGES, areMessages],
  [['expected', 'target', 'reference', 'ideal'], 'answer', () => true],
];

const MOVED = [...SYSTEM_PROMPTS, ...MOVES.flatMap(([sources]) => sources), MESSAGES];

const movedFrom = (object: string): string[] =>
  MOVED.filter((path) => path.startsWith(`${object}.`)).map((path) => path.slice(object.length + 1));

/** Keys that {@link upgradeItem} looks at. Values that it removes or changes have types that an item may not have. */
export const LEGACY_KEYS: ConstructorParameters<typeof PlainLineCollector>[0] = {
  item: [
    'assets',
    ...MOVED.filter((path) => !/^(?:inputs|checker)\./.test(path)).map((path) => path.replace(/\..*/, '')),
  ],
  inputs: movedFrom('inputs'),
  checker: movedFrom('checker'),
};

/** Members that JSONL v2.3 does not allow to be null, and that mean nothing if they are. */
const NEVER_NULL = [
  ...['id', 'type', 'inputs', PROMPT, MESSAGES, 'inputs.choices'],
  ...['criteria', 'assets', 'meta', 'tags'],
];

/** Package-format section 4. Nothing is lost: a value keeps its path unless the new one is free. Works on a copy. */
export function upgradeItem(legacy: JsonObject, context: UpgradeContext): UpgradedItem {
  const editor = new ItemEditor(legacy);
  for (const path of NEVER_NULL) {
    if (editor.get(path) !== null) continue;
    editor.take(path);
    editor.changes.push({ what: 'removed', from: path, to: '' });
  }
  // If `inputs` is a text, it is the prompt; the format needs an object there.
  const inputs = editor.get('inputs');
  if (typeof inputs === 'string') {
    editor.take('inputs');
    editor.move('inputs', inputs, PROMPT, () => {});
  }
  for (const source of SYSTEM_PROMPTS) editor.moveFrom(source, SYSTEM_PROMPT, isTextOrNull);
  for (const source of ['messages', MESSAGES]) moveSystemMessage(editor, source);
  for (const [sources, target, accepts] of MOVES) {
    for (const source of sources) editor.moveFrom(source, target, accepts);
  }
  applyPrompts(editor, context);

  const assets = editor.get('assets');
  const upgraded: AssetUpgrade | null =
    assets === undefined ? null : upgradeAssets(assets, context.resolveFile, context.location);
  if (upgraded) {
    editor.put('assets', upgraded.assets);
    for (const from of upgraded.moved) editor.changes.push({ what: 'asset', from, to: 'assets/' });
  }
  return { item: editor.item, changes: editor.changes, files: upgraded?.files ?? new Map() };
}

/** Makes the first message of a conversation the system prompt, if its role is `system`. */
function moveSystemMessage(editor: ItemEditor, source: string): void {
  const messages = editor.get(source);
  if (!Array.isArray(messages) || !isJsonObject(messages[0]) || getMember(messages[0], 'role') !== 'system')
    return;
  const { content, ...rest } = messages[0];
  const from = `${source}[0]`;
  if (typeof content !== 'string' || Object.keys(rest).length > 1) {
    editor.changes.push({ what: 'kept', from, to: SYSTEM_PROMPT });
    return;
  }
  editor.move(from, content, SYSTEM_PROMPT, () => {
    if (messages.length === 1) editor.take(source);
    else editor.put(source, messages.slice(1));
  });
}

/** Adds the prompts of the whole dataset to an item without such prompts. */
function applyPrompts(editor: ItemEditor, { prompts, section }: UpgradeContext): void {
  const type = editor.get('type');
  const judgePrompt = prompts.judgePrompt(typeof type === 'string' ? type : 'freeform', section);
  for (const [value, target, from] of [
    [prompts.systemPrompt, SYSTEM_PROMPT, 'dataset system_prompt'],
    [judgePrompt, JUDGE_PROMPT, 'dataset judge_prompt'],
  ] as const) {
    if (value === null || (editor.get(target) ?? null) !== null) continue;
    const isApplied = editor.canPut(target);
    if (isApplied) editor.put(target, value);
    editor.changes.push({ what: isApplied ? 'applied' : 'clash', from, to: target });
  }
}

const stepsOf = (path: string): [string, string?] => path.split('.') as [string, string?];

/** Edits a copy of an item; the given item does not change. */
class ItemEditor {
  readonly item: JsonObject;
  readonly changes: ItemChange[] = [];

  constructor(legacy: JsonObject) {
    this.item = { ...legacy };
  }

  get(path: string): JsonValue | undefined {
    const [first, second] = stepsOf(path);
    const value = getMember(this.item, first);
    if (second === undefined) return value;
    return isJsonObject(value) ? getMember(value, second) : undefined;
  }

  canPut(path: string): boolean {
    const [first, second] = stepsOf(path);
    const parent = getMember(this.item, first);
    return second === undefined || parent === undefined || isJsonObject(parent);
  }

  put(path: string, value: JsonValue): void {
    const [first, second] = stepsOf(path);
    this.item[first] =
      second === undefined ? value : { ...(this.get(first) as JsonObject | undefined), [second]: value };
  }

  /** Removes a member, and the object around it if that is empty then. */
  take(path: string): void {
    const [first, second] = stepsOf(path);
    if (second === undefined) {
      delete this.item[first];
      return;
    }
    const { [second]: _, ...rest } = this.item[first] as JsonObject;
    if (Object.keys(rest).length === 0) delete this.item[first];
    else this.item[first] = rest;
  }

  /** Moves the member at `source` to `target` if it exists, has an accepted type, and the target is free. */
  moveFrom(source: string, target: string, accepts: (value: JsonValue) => boolean): void {
    const value = this.get(source);
    if (value === undefined) return;
    if (accepts(value)) this.move(source, value, target, () => this.take(source));
    else if (!isJsonObject(value)) this.changes.push({ what: 'kept', from: source, to: target });
  }

  /** Moves a value to its new path and removes it from the old one; if the new path has another value, both stay. */
  move(from: string, value: JsonValue, target: string, remove: () => void): void {
    const present = this.get(target);
    const isFree = present === undefined || (present === null && target.includes('.'));
    const isSame = present !== undefined && canonicalJson(present) === canonicalJson(value);
    if (!isSame && (!isFree || !this.canPut(target))) {
      if (value !== null) this.changes.push({ what: 'clash', from, to: target });
      return;
    }
    remove();
    if (!isSame) this.put(target, value);
    this.changes.push({ what: 'moved', from, to: target });
  }
}

/** Prompts of a list; each item looks at all of them. */
const MAX_LISTED_PROMPTS = 1000;

/**
 * The prompts for all items in legacy metadata: `system_prompt`, `judge_prompt` and `default_judge_prompts`, each from
 * the first object that has it.
 *
 * `default_judge_prompts` is one prompt, a list of prompts (which are joined), a map by item type or
 * section with `default` for the rest, or a list of `{type | section, prompt}`.
 *
 * @param blobs the first has priority: a file's members, then `meta.json`, then `manifest.json`
 */
export function datasetPrompts(blobs: readonly (JsonObject | null)[]): DatasetPrompts {
  const first = (key: string): JsonValue | undefined =>
    blobs
      .map((blob) => (blob ? getMember(blob, key) : undefined))
      .find((value) => value !== undefined && value !== null);
  const systemPrompt = first('system_prompt');
  const judgePrompt = first('judge_prompt');
  const defaults = first('default_judge_prompts');
  if (Array.isArray(defaults) && defaults.length > MAX_LISTED_PROMPTS) {
    const message = `default_judge_prompts must have at most ${MAX_LISTED_PROMPTS} prompts, got ${defaults.length}.`;
    throw new PackageError('package_limit', message);
  }
  return {
    areNone: systemPrompt === undefined && judgePrompt === undefined && defaults === undefined,
    systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : null,
    judgePrompt: (type, section) =>
      typeof judgePrompt === 'string' ? judgePrompt : defaultPrompt(defaults, type, section),
  };
}

function defaultPrompt(defaults: JsonValue | undefined, type: string, section: string): string | null {
  if (typeof defaults === 'string') return defaults;
  if (Array.isArray(defaults)) return promptOfList(defaults, type, section);
  if (!isJsonObject(defaults)) return null;
  for (const key of [type, section, 'default', '*']) {
    const prompt = promptText(getMember(defaults, key));
    if (prompt !== null) return prompt;
  }
  return null;
}

function promptOfList(list: readonly JsonValue[], type: string, section: string): string | null {
  const matching = list.filter((member) => {
    if (!isJsonObject(member)) return true;
    const [forType, forSection] = [getMember(member, 'type'), getMember(member, 'section')];
    return (
      (forType === undefined || forType === type) && (forSection === undefined || forSection === section)
    );
  });
  const prompts = matching.map(promptText).filter((prompt) => prompt !== null);
  return prompts.length === 0 ? null : prompts.join('\n\n');
}

function promptText(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return null;
  const prompt = getMember(value, 'prompt') ?? getMember(value, 'text');
  return typeof prompt === 'string' ? prompt : null;
}
