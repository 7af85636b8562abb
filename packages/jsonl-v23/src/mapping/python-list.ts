import { JsonlError } from '../errors.ts';
import type { JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';

/** A token of a Python list or dictionary, or of NumPy's arrays in one. */
const TOKEN =
  /[ \t\r\n]+|[uU]?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")|(?:np\.|numpy\.)?array\(|,[ \t\r\n]*dtype=[\w.<']+[ \t\r\n]*\)|[[\]{}:,)]|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|None|True|False/sy;

/** In characters. No options of a question are longer, and it takes some milliseconds of the thread that serves requests. */
const MAX_LENGTH = 64 * 1024;

const WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

/**
 * The value of a list or a dictionary as Python or NumPy prints it, such as `['a', "it's"]`, or `['a' 'b']` of an array.
 * Takes linear time.
 *
 * @returns undefined where the text is no such value, or longer than 64 KiB
 */
export function parsePythonList(text: string): JsonValue | undefined {
  if (text.length > MAX_LENGTH || !/^[ \t\r\n]*[[{]/.test(text)) return undefined;
  const parts: string[] = [];
  let afterText = false;
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [token, single, double] = match;
    at += token.length;
    const quoted = single ?? double;
    if (quoted !== undefined) {
      // NumPy writes no commas.
      parts.push(afterText ? ',' : '', JSON.stringify(unescaped(quoted)));
    } else if (!/^[ \t\r\n]/.test(token) && !token.endsWith('(') && !token.endsWith(')')) {
      parts.push(WORDS[token] ?? token);
    }
    afterText = quoted !== undefined || (afterText && /^[ \t\r\n]/.test(token));
  }
  try {
    return parseJson(parts.join('').replace(/,(?=[\]}]$)/, ''));
  } catch (error) {
    if (error instanceof JsonlError) return undefined;
    throw error;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\n': '' };

/** A text without Python's escapes. */
function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U000([0-9a-fA-F]{5})|(.))/gs,
    (_, byte?: string, unit?: string, point?: string, char = '') => {
      const code = byte ?? unit ?? point;
      return code === undefined ? (ESCAPES[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16));
    },
  );
}
