import { skipValue } from '@svc/jsonl-v23/json';

/** The members of an object, from its canonical text: the JSON text of each value, with every digit, by its key. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (let start = 1; start < text.length - 1; ) {
    const keyEnd = skipValue(text, start);
    const quoted = text.slice(start, keyEnd);
    const end = skipValue(text, keyEnd + 1);
    members.set(
      quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1),
      text.slice(keyEnd + 1, end),
    );
    start = end + 1;
  }
  return members;
}
