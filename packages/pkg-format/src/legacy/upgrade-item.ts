import type { SourceLocation } from '@svc/jsonl-v23';
import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type AssetUpgrade, upgradeAssets } from './upgrade-assets.ts';

/** Something that an upgrade did to an item, or could not do. */
export interface ItemChange {
  /**
   * `moved`: a value went to its new place. `clash`: it stayed, because its new place holds another value. `kept`: it
   * stayed, because it is nothing that its new place takes. `applied`: a value of the whole dataset was put in.
   * `asset`: content became a file of the package. `removed`: a null where the format has no null.
   */
  what: 'moved' | 'clash' | 'kept' | 'applied' | 'asset' | 'removed';
  /** Old and new place, as dotted paths in the item; `to` is empty for `removed`. */
  from: string;
  to: string;
}

/** Prompts that a legacy archive states for the whole dataset, or for one file of it. */
export interface DatasetPrompts {
  systemPrompt: string | null;
  /** The judge prompt of items of a type in a section, or null. */
  judgePrompt(type: string, section: string): string | null;
}

export interface UpgradeContext {
  section: string;
  prompts: DatasetPrompts;
  /** Where the item stands. */
  location: SourceLocation;
  /** The path of the archive file that a reference means, or null. */
  resolveFile(reference: string): string | null;
}

export interface UpgradedItem {
  item: JsonObject;
  changes: ItemChange[];
  /** Archive files whose content is to be embedded, by the JSON Pointer of their entry. */
  files: ReadonlyMap<string, string>;
}

type Path = readonly [string] | readonly [string, string];

const SYSTEM_PROMPT: Path = ['inputs', 'system_prompt'];
const JUDGE_PROMPT: Path = ['meta', 'judge_prompt'];
const PROMPT: Path = ['inputs', 'prompt'];
const MESSAGES: Path = ['inputs', 'messages'];

/** Members that say nothing when they are null, and that JSONL v2.3 does not have as null. */
const NEVER_NULL: readonly Path[] = [
  ['id'],
  ['type'],
  ['inputs'],
  ['inputs', 'prompt'],
  ['inputs', 'messages'],
  ['inputs', 'choices'],
  ['criteria'],
  ['assets'],
  ['meta'],
  ['tags'],
];

/**
 * Brings an item of a legacy archive into the form of JSONL v2.3 (package-format section 4). Pure; the item given is not
 * changed.
 *
 * Nothing is dropped: a value goes to its new place where that is free, and stays where it was otherwise. Assets come
 * out with their content embedded, or are named in `files`.
 *
 * @throws JsonlError `invalid_asset` for content that cannot be decoded; PackageError `package_missing_file`
 */
export function upgradeItem(legacy: JsonObject, context: UpgradeContext): UpgradedItem {
  const editor = new ItemEditor(legacy);
  const isText = (value: JsonValue): boolean => typeof value === 'string';
  const isTextOrNull = (value: JsonValue): boolean => value === null || typeof value === 'string';

  for (const path of NEVER_NULL) {
    if (editor.get(path) !== null) continue;
    editor.take(path);
    editor.changes.push({ what: 'removed', from: path.join('.'), to: '' });
  }
  // `inputs` of text is the prompt itself, under a name that has to become an object.
  const inputs = editor.get(['inputs']);
  if (typeof inputs === 'string') {
    editor.take(['inputs']);
    editor.move('inputs', inputs, PROMPT, () => {});
  }
  for (const source of [['system_prompt'], ['system'], ['inputs', 'system'], ['prompt', 'system']] as const) {
    editor.moveFrom(source, SYSTEM_PROMPT, isTextOrNull);
  }
  for (const source of [['messages'], ['inputs', 'messages']] as const) moveSystemMessage(editor, source);
  for (const source of [
    ['judge_prompt'],
    ['judge', 'prompt'],
    ['grader_prompt'],
    ['checker', 'judge_prompt'],
    ['inputs', 'judge_prompt'],
  ] as const) {
    editor.moveFrom(source, JUDGE_PROMPT, isTextOrNull);
  }
  for (const source of [
    ['prompt'],
    ['question'],
    ['input'],
    ['prompt', 'user'],
    ['prompt', 'text'],
  ] as const) {
    editor.moveFrom(source, PROMPT, isText);
  }
  editor.moveFrom(['messages'], MESSAGES, isConversation);
  for (const source of [['expected'], ['target'], ['reference'], ['ideal']] as const) {
    editor.moveFrom(source, ['answer'], () => true);
  }
  applyPrompts(editor, context);

  const assets = editor.get(['assets']);
  const upgraded: AssetUpgrade | null =
    assets === undefined ? null : upgradeAssets(assets, context.resolveFile, context.location);
  if (upgraded) {
    editor.put(['assets'], upgraded.assets);
    for (const from of upgraded.moved) editor.changes.push({ what: 'asset', from, to: 'assets/' });
  }
  return { item: editor.item, changes: editor.changes, files: upgraded?.files ?? new Map() };
}

/** The first message of a conversation, where its role is `system`, is the system prompt. */
function moveSystemMessage(editor: ItemEditor, source: Path): void {
  const messages = editor.get(source);
  if (!Array.isArray(messages) || !isJsonObject(messages[0]) || getMember(messages[0], 'role') !== 'system')
    return;
  const { content, ...rest } = messages[0];
  const from = `${source.join('.')}[0]`;
  if (typeof content !== 'string' || Object.keys(rest).length > 1) {
    editor.changes.push({ what: 'kept', from, to: SYSTEM_PROMPT.join('.') });
    return;
  }
  editor.move(from, content, SYSTEM_PROMPT, () => {
    if (messages.length === 1) editor.take(source);
    else editor.put(source, messages.slice(1));
  });
}

function isConversation(value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (message) =>
        isJsonObject(message) &&
        typeof getMember(message, 'role') === 'string' &&
        Object.hasOwn(message, 'content'),
    )
  );
}

/** What is stated for the whole dataset goes to the items that have none of their own. */
function applyPrompts(editor: ItemEditor, { prompts, section }: UpgradeContext): void {
  const type = editor.get(['type']);
  const judgePrompt = prompts.judgePrompt(typeof type === 'string' ? type : 'freeform', section);
  for (const [value, target, from] of [
    [prompts.systemPrompt, SYSTEM_PROMPT, 'dataset system_prompt'],
    [judgePrompt, JUDGE_PROMPT, 'dataset judge_prompt'],
  ] as const) {
    if (value === null || (editor.get(target) ?? null) !== null) continue;
    const isApplied = editor.canPut(target);
    if (isApplied) editor.put(target, value);
    editor.changes.push({ what: isApplied ? 'applied' : 'clash', from, to: target.join('.') });
  }
}

/** An item under upgrade: a copy in which only what is touched is new. */
class ItemEditor {
  readonly item: JsonObject;
  readonly changes: ItemChange[] = [];

  constructor(legacy: JsonObject) {
    this.item = { ...legacy };
  }

  get([first, second]: Path): JsonValue | undefined {
    const value = getMember(this.item, first);
    if (second === undefined) return value;
    return isJsonObject(value) ? getMember(value, second) : undefined;
  }

  canPut([first, second]: Path): boolean {
    const parent = getMember(this.item, first);
    return second === undefined || parent === undefined || isJsonObject(parent);
  }

  put([first, second]: Path, value: JsonValue): void {
    this.item[first] =
      second === undefined ? value : { ...(this.get([first]) as JsonObject | undefined), [second]: value };
  }

  /** Takes a member out; an object that it leaves empty goes with it. */
  take([first, second]: Path): void {
    if (second === undefined) {
      delete this.item[first];
      return;
    }
    const { [second]: _, ...rest } = this.item[first] as JsonObject;
    if (Object.keys(rest).length === 0) delete this.item[first];
    else this.item[first] = rest;
  }

  /** Moves the member at `source` to `target` where it is there, of the right kind, and the target free. */
  moveFrom(source: Path, target: Path, accepts: (value: JsonValue) => boolean): void {
    const value = this.get(source);
    if (value === undefined) return;
    if (accepts(value)) this.move(source.join('.'), value, target, () => this.take(source));
    else if (!isJsonObject(value))
      this.changes.push({ what: 'kept', from: source.join('.'), to: target.join('.') });
  }

  /** Puts a value to its new place and has its old one removed; where another value is there, both stay. */
  move(from: string, value: JsonValue, target: Path, remove: () => void): void {
    const present = this.get(target);
    const isFree = present === undefined || (present === null && target.length === 2);
    const isSame = present !== undefined && canonicalJson(present) === canonicalJson(value);
    if (!isSame && (!isFree || !this.canPut(target))) {
      if (value !== null) this.changes.push({ what: 'clash', from, to: target.join('.') });
      return;
    }
    remove();
    if (!isSame) this.put(target, value);
    this.changes.push({ what: 'moved', from, to: target.join('.') });
  }
}
