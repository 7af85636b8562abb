import {
  filesOfPart,
  LINK_MEMBERS,
  type LinkedFile,
  replaceLinked,
  withOwnMembers,
} from '@svc/jsonl-v23/internal';
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { linkOf } from '@svc/service/flows';
import { joinStoredItem, type StoredItem } from '@svc/store';

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
