/**
 * SQL for a `json` value whose members every supported PostgreSQL can read. Before version 17, `->` fails for a whole
 * document that contains the escape of a NUL or of half a surrogate pair. Such an escape becomes U+FDD0 and its digits,
 * which `memberText` turns back.
 */
export function readableJson(value: string): string {
  const text = `(${value})::text`;
  return `(CASE WHEN position('\\u0000' IN ${text}) > 0 OR position('\\ud' IN ${text}) > 0
    THEN regexp_replace(${text}, '${ESCAPE}', '\\1' || chr(${MARK}) || '\\2', 'g')::json ELSE ${value} END)`;
}

/** SQL for the text of a member of `readableJson`, as it is stored. */
export function memberText(member: string): string {
  return `replace((${member})::text, chr(${MARK}), '\\u')`;
}

/** After an even number of backslashes, each pair of which is an escaped one. */
const ESCAPE = String.raw`(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})`;

/** U+FDD0, which Unicode reserves for use inside a program. */
const MARK = 0xfdd0;
