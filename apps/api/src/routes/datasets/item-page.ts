import {
  filesOfPart,
  LINK_MEMBERS,
  type LinkedFile,
  replaceLinked,
  withOwnMembers,
} from '@svc/jsonl-v23/internal';
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { encodePieces } from '@svc/pkg-format/internal';
import { type JsonBody, JsonText, type RouteResponse, stream, toJsonText, toJsonTexts } from '@svc/service';
import { linkOf } from '@svc/service/flows';
import { type ItemsPage, joinStoredItem, type ListedItem, type Store, type StoredItem } from '@svc/store';
import { PLACED_ITEM } from '../docs/schemas.ts';
import { ITEM_TOO_LARGE, pageMeta, pageResponse, type Query } from '../page.ts';

/** Characters per piece that is sent. */
const CHUNK_LENGTH = 64 * 1024;

/** The error of an item whose files cannot be embedded. */
const ASSET_MISSING = {
  code: 'asset_missing',
  message: 'A file of the item is missing in the object storage.',
} as const;

export interface ItemPageOptions {
  readonly datasetId: string;
  /** That links name; undefined for none. */
  readonly version: number | undefined;
  readonly form: 'embed' | 'link';
  readonly query: Query;
  readonly signal: AbortSignal;
}

/**
 * A page of items. Files are read and sent in pieces, so that memory holds none of them whole. An item with a file that is
 * gone gets links and an error, and the others are whole.
 *
 * @throws StoreError `unavailable`
 */
export async function itemPage(
  assets: Store['assets'],
  found: ItemsPage,
  { datasetId, version, form, query, signal }: ItemPageOptions,
): Promise<RouteResponse> {
  const isEmbedded = (item: ListedItem): boolean =>
    form === 'embed' && !item.isTruncated && item.linkedFiles.length > 0;
  const textOf = (item: StoredItem): JsonText =>
    new JsonText(
      item.linkedFiles.length === 0 ? joinStoredItem(item) : linkedItemText(item, datasetId, version),
    );
  const linked = (item: ListedItem): JsonBody => serializeItem(item, textOf);
  if (!found.data.some(isEmbedded)) return pageResponse(found, query, linked);

  const hashes = found.data
    .filter(isEmbedded)
    .flatMap(({ linkedFiles }) => linkedFiles.map(({ sha256 }) => sha256));
  const missing = await assets.findMissing([...new Set(hashes)], signal).catch((error: unknown) => {
    found.release();
    throw error;
  });
  async function* entry(item: ListedItem): AsyncGenerator<string> {
    const { payload } = item;
    if (payload === null || !isEmbedded(item)) yield* toJsonTexts(linked(item));
    else if (item.linkedFiles.some(({ sha256 }) => missing.has(sha256))) {
      yield toJsonText({
        ...PLACED_ITEM.toBody(item),
        item: textOf({ ...item, payload }),
        error: ASSET_MISSING,
      });
    } else {
      yield `${toJsonText(PLACED_ITEM.toBody(item)).slice(0, -1)},"item":`;
      yield* assets.itemText({ ...item, payload }, signal);
      yield '}';
    }
  }
  async function* texts(): AsyncGenerator<string> {
    let before = '{"data":[';
    for (const item of found.data) {
      yield before;
      yield* entry(item);
      before = ',';
    }
    yield `],"meta":${toJsonText(pageMeta(found, query))}}`;
  }
  return stream(toBytes(texts()), { 'Content-Type': 'application/json' }, async () => found.release());
}

/** An item without its files. One that is too large is listed with its hash and an error. */
function serializeItem(
  item: ListedItem,
  textOf: (item: StoredItem) => JsonText,
): Readonly<Record<string, JsonBody>> {
  const { payload } = item;
  if (payload === null) return { ...PLACED_ITEM.toBody(item), item: null, error: ITEM_TOO_LARGE };
  const text = textOf({ ...item, payload });
  return { ...PLACED_ITEM.toBody(item), item: text, ...(item.isTruncated ? { truncated: true } : {}) };
}

/** Texts as UTF-8. Collects short ones, and cuts long ones. */
async function* toBytes(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let waiting: string[] = [];
  let length = 0;
  for await (const text of texts) {
    waiting.push(text);
    length += text.length;
    if (length < CHUNK_LENGTH) continue;
    yield* encodePieces(waiting);
    waiting = [];
    length = 0;
  }
  yield* encodePieces(waiting);
}

/** Entries of this length are parsed to get a link; a longer one, which holds a text, gets it at its end. */
const MAX_PARSED_LENGTH = 64 * 1024;

/** The text of an item with a link in place of each file: `{mime_type, sha256, byte_length, url}` and its other keys. @param version that links name */
export function linkedItemText(item: StoredItem, datasetId: string, version: number | undefined): string {
  const urlOf = linkOf(datasetId, version);
  const link = (text: string | null, part: 'assets' | 'checker'): string | null => {
    const files = filesOfPart(item.linkedFiles, part);
    if (text === null || files.length === 0) return text;
    return replaceLinked(text, files, (file) =>
      linkedEntry(text.slice(file.start, file.end), withOwnMembers(urlOf(file), ownMembers(file))),
    );
  };
  return joinStoredItem({
    ...item,
    assets: link(item.assets, 'assets'),
    checker: link(item.checker, 'checker'),
  });
}

/** The members that an entry with its content has by the names of those of a link. */
function ownMembers({ before, after }: LinkedFile): JsonObject {
  if (![before, after].some((text) => OWN.test(text))) return {};
  const entry = parseJson(before + after, { maxDepth: Number.POSITIVE_INFINITY }) as JsonObject;
  return Object.fromEntries(Object.entries(entry).filter(([name]) => LINK_MEMBERS.has(name)));
}

const OWN = /"(?:url|sha256|byte_length)":/;

/** The entry of a file with its link, which replaces a `url` that the entry has. */
function linkedEntry(entry: string, url: string): string {
  if (entry.length > MAX_PARSED_LENGTH) return `${entry.slice(0, -1)},"url":${JSON.stringify(url)}}`;
  const members = parseJson(entry, { maxDepth: Number.POSITIVE_INFINITY });
  return isJsonObject(members) ? canonicalJson({ ...members, url }) : entry;
}
