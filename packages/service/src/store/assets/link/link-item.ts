import { hash } from 'node:crypto';
import { countAssets, DEFAULT_ITEM_TYPE, type FileReference } from '@svc/jsonl-v23';
import {
  assetEntries,
  base64Length,
  filledEntry,
  isEmbeddedChecker,
  type LinkedFile,
  type LinkedParts,
  layoutLinkedItem,
  linkedReferences,
} from '@svc/jsonl-v23/assets';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '@svc/jsonl-v23/json';
import { fileHash, type HashStates, hashOf } from './hash-item.ts';

export interface EmbeddedContent {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  /** In its own buffer, unless it is a file that was given. */
  readonly bytes: Uint8Array;
  /** Null for a checker, and for a type that is not plain ASCII of a usual length. */
  readonly mimeType: string | null;
}

/** An item in its stored parts, which name its files in place of their content. */
export interface LinkedItem extends LinkedParts {
  /** 32 bytes, the hash of the item with its files embedded. */
  readonly itemHash: Uint8Array;
  /** Canonical JSON text of the item's type, without its quotes. */
  readonly type: string;
  readonly assetCount: number;
  /** Bytes of the canonical text of the whole item with its files embedded. */
  readonly byteLength: number;
  readonly linkedBytes: number;
  readonly contents: readonly EmbeddedContent[];
}

const MIME_TYPE = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

/** Takes the files of an item out of it. The hash is of the item with its files, which memory never holds whole. */
export function linkItem(
  item: JsonObject,
  files: ReferredFiles | null = null,
  states: HashStates | null = null,
): LinkedItem {
  const linker = new Linker(files === null ? NO_FILES : givenFiles(item, files), states);
  const { assets, checker, answer, ...others } = item;
  const type = getMember(item, 'type');
  const assetsText = assets === undefined ? null : linker.assets(assets, item);
  const checkerText = checker === undefined ? null : linker.checker(checker);
  const texts = {
    payload: canonicalJson(others),
    answer: answer === undefined ? null : canonicalJson(answer),
    assets: assetsText,
    checker: checkerText,
  };
  const { entries } = linker;
  const linkedFiles = entries.map(({ file }) => file);
  const views = entries.map(({ file, viewBefore, viewAfter }) => ({
    ...file,
    before: viewBefore,
    after: viewAfter,
  }));
  const sources = new Map(views.map((view, index) => [view as LinkedFile, entries[index] as LinkedEntry]));
  const pieces = layoutLinkedItem({ ...texts, linkedFiles: views }).map((piece) =>
    typeof piece === 'string' ? piece : (sources.get(piece) as LinkedEntry),
  );
  const byteLength = byteLengthOf(texts, linkedFiles);
  return {
    ...texts,
    linkedFiles,
    itemHash: hashOf(pieces, states),
    type: typeof type === 'string' ? canonicalJson(type).slice(1, -1) : DEFAULT_ITEM_TYPE,
    assetCount: countAssets(assets),
    byteLength,
    linkedBytes: entries.reduce((sum, entry) => sum + addedBytes(entry), 0),
    contents: entries.map(({ content }) => content),
  };
}

export interface ReferredFiles {
  /** One for each of the item's `linkedReferences`, in that order. */
  readonly contents: readonly Uint8Array[];
  readonly origins?: readonly string[] | undefined;
}

type GivenFile = FileReference & { readonly bytes: Uint8Array };

const NO_FILES: ReadonlyMap<string, GivenFile> = new Map();

function givenFiles(item: JsonObject, { contents, origins }: ReferredFiles): Map<string, GivenFile> {
  return new Map(
    linkedReferences(item, origins ?? null).map((reference, index) => [
      reference.pointer,
      { ...reference, bytes: contents[index] as Uint8Array },
    ]),
  );
}

interface LinkedEntry {
  readonly file: LinkedFile;
  /** The canonical text around the content in the hash view, which has no `path`. */
  readonly viewBefore: string;
  readonly viewAfter: string;
  /** Position of the entry in the stored text. */
  readonly linkText: string;
  readonly content: EmbeddedContent;
  /** The base64 text, where the item came with it. */
  readonly base64: string | null;
}

class Linker {
  readonly entries: LinkedEntry[] = [];
  readonly #given: ReadonlyMap<string, GivenFile>;
  readonly #states: HashStates | null;

  constructor(given: ReadonlyMap<string, GivenFile>, states: HashStates | null) {
    this.#given = given;
    this.#states = states;
  }

  /** The text of `assets`. Files are taken in the order of the item, texts written in that of the keys. */
  assets(assets: JsonValue, item: JsonObject): string {
    const found = new Map<string | number, LinkSource>();
    for (const { name, entry, pointer } of assetEntries(item)) {
      const source = this.#assetSource(entry, pointer);
      if (source !== null) found.set(name, source);
    }
    if (Array.isArray(assets)) {
      return this.#join(
        '[',
        ']',
        assets.map((entry, index) => ['', entry, found.get(index)]),
      );
    }
    if (!isJsonObject(assets)) return canonicalJson(assets);
    const names = Object.keys(assets).sort(compareUtf16);
    return this.#join(
      '{',
      '}',
      names.map((name) => [`${canonicalJson(name)}:`, assets[name] as JsonValue, found.get(name)]),
    );
  }

  checker(checker: JsonValue): string {
    if (!isEmbeddedChecker(checker) && !this.#given.has('/checker')) return canonicalJson(checker);
    const source = this.#source(checker as JsonObject, '/checker', () => null);
    return this.#join('', '', [['', checker, source]]);
  }

  #assetSource(entry: JsonObject, pointer: string): LinkSource | null {
    if (!Object.hasOwn(entry, 'data') && !this.#given.has(pointer)) return null;
    return this.#source(entry, pointer, (whole) => {
      const mimeType = getMember(whole, 'mime_type');
      return typeof mimeType === 'string' && MIME_TYPE.test(mimeType) ? mimeType : null;
    });
  }

  #source(entry: JsonObject, pointer: string, mimeTypeOf: (entry: JsonObject) => string | null): LinkSource {
    const given = this.#given.get(pointer);
    if (given === undefined) {
      const base64 = getMember(entry, 'data') as string;
      const bytes = decoded(base64);
      const content = { sha256: hash('sha256', bytes, 'hex'), bytes, mimeType: mimeTypeOf(entry) };
      return { entry, pointer, base64, content };
    }
    const whole = filledEntry(entry, given);
    const { bytes } = given;
    const content = { sha256: fileHash(bytes, this.#states), bytes, mimeType: mimeTypeOf(whole) };
    return { entry: whole, pointer, base64: null, content };
  }

  #join(
    open: string,
    close: string,
    members: readonly (readonly [key: string, value: JsonValue, source: LinkSource | undefined])[],
  ): string {
    const texts: string[] = [];
    let at = open.length;
    for (const [key, value, source] of members) {
      let text: string;
      if (source === undefined) text = canonicalJson(value);
      else {
        const entry = linkEntry(source, at + key.length);
        this.entries.push(entry);
        text = entry.linkText;
      }
      texts.push(key + text);
      at += key.length + text.length + 1;
    }
    return open + texts.join(',') + close;
  }
}

interface LinkSource {
  readonly entry: JsonObject;
  readonly pointer: string;
  readonly base64: string | null;
  readonly content: EmbeddedContent;
}

function linkEntry({ entry, pointer, base64, content }: LinkSource, start: number): LinkedEntry {
  const rest = without(entry, 'data', 'encoding');
  const linkText = canonicalJson(
    withMembers(rest, { sha256: content.sha256, byte_length: content.bytes.byteLength }),
  );
  const whole = withMembers(rest, { encoding: 'base64' });
  const [before, after] = aroundData(whole);
  const [viewBefore, viewAfter] = Object.hasOwn(rest, 'path')
    ? aroundData(without(whole, 'path'))
    : [before, after];
  const { sha256, bytes } = content;
  const end = start + linkText.length;
  const file = { pointer, start, end, before, after, sha256, byteLength: bytes.byteLength };
  return { file, viewBefore, viewAfter, linkText, content, base64 };
}

function aroundData(object: JsonObject): [before: string, after: string] {
  const earlier: JsonObject = {};
  const later: JsonObject = {};
  for (const key of Object.keys(object)) {
    setMember(compareUtf16(key, 'data') < 0 ? earlier : later, key, object[key] as JsonValue);
  }
  const head = canonicalJson(earlier);
  const tail = canonicalJson(later);
  return [
    head === '{}' ? '{"data":"' : `${head.slice(0, -1)},"data":"`,
    tail === '{}' ? '"}' : `",${tail.slice(1)}`,
  ];
}

const compareUtf16 = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  const rest: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (!keys.includes(key)) setMember(rest, key, object[key] as JsonValue);
  }
  return rest;
}

function withMembers(object: JsonObject, members: JsonObject): JsonObject {
  const copy = without(object);
  for (const [key, value] of Object.entries(members)) setMember(copy, key, value);
  return copy;
}

/** In a separate buffer, which can go to another thread. */
function decoded(base64: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(Math.floor((base64.length * 3) / 4));
  return bytes.subarray(0, bytes.write(base64, 'base64'));
}

function addedBytes({ file: { before, after, byteLength }, linkText }: LinkedEntry): number {
  const embedded = Buffer.byteLength(before) + base64Length(byteLength) + Buffer.byteLength(after);
  return embedded - Buffer.byteLength(linkText);
}

function byteLengthOf(texts: Omit<LinkedParts, 'linkedFiles'>, linkedFiles: readonly LinkedFile[]): number {
  let bytes = 0;
  for (const piece of layoutLinkedItem({ ...texts, linkedFiles })) {
    bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : base64Length(piece.byteLength);
  }
  return bytes;
}
