import { hasMoreValues } from '@svc/jsonl-v23/internal';
import { JsonlError, type JsonStream, type LocatedText } from '@svc/jsonl-v23/json';
import { HubError } from '../errors.ts';
import { MAX_ENTRIES } from './parse-yaml.ts';

/** Members of a repository's description that are read. They are requested by name: the hub omits some otherwise. */
export const INFO_FIELDS = [
  'sha',
  'private',
  'gated',
  'disabled',
  'description',
  'citation',
  'cardData',
  'tags',
  'lastModified',
] as const;

const MAX_MEMBER_LENGTH = 1024 * 1024;
/** The hub sends some thirty. Names of members are held to find duplicates. */
const MAX_MEMBERS = 1_000;
/** Names for the error of an unknown revision. */
const MAX_REVISIONS = 10_000;

/** What the hub says about a repository: the members of `INFO_FIELDS` and `id`. */
export type RepositoryInfo = Readonly<Record<string, unknown>>;

/**
 * Reads the description of a repository. It leaves out members of other names, and members that are too large to be
 * parsed on this thread: the card is then read from its file. All but the card are plain values or lists of texts.
 *
 * @throws JsonlError if the text is not a JSON object; HubError `hub_bad_response` if it has more than 1,000 members
 */
export async function readInfo(json: JsonStream): Promise<RepositoryInfo> {
  const info: Record<string, unknown> = {};
  let members = 0;
  for await (const key of json.members()) {
    members += 1;
    if (members > MAX_MEMBERS) {
      throw new HubError('hub_bad_response', `The hub's answer has more than ${MAX_MEMBERS} members.`);
    }
    if (key !== 'id' && !INFO_FIELDS.some((field) => field === key)) continue;
    const member = await json.text();
    if (member.text.length > MAX_MEMBER_LENGTH || hasMoreValues(member.text, MAX_ENTRIES)) continue;
    const value = parse(member);
    if (key === 'cardData' || typeof value !== 'object') info[key] = value;
    else if (Array.isArray(value)) info[key] = value.filter((entry) => typeof entry === 'string');
  }
  return info;
}

/** Reads the names of branches and tags. @throws JsonlError if the text is not a JSON object of lists */
export async function readRevisionNames(json: JsonStream): Promise<string[]> {
  const names: string[] = [];
  for await (const kind of json.members()) {
    if (kind !== 'branches' && kind !== 'tags') continue;
    for await (const _ of json.items()) {
      if (names.length >= MAX_REVISIONS || (await json.peek()) !== 'object') continue;
      for await (const key of json.members()) {
        if (key !== 'name' || (await json.peek()) !== 'string') continue;
        names.push(String(await json.value()));
      }
    }
  }
  return names;
}

/** The parser of the runtime: several times as fast as `JsonStream`'s, and the numbers are small. */
function parse({ text, location }: LocatedText): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonlError('invalid_json', 'Invalid JSON', location);
  }
}
