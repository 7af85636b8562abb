import { ASCII } from './ascii.ts';
import { skipValue } from './value-scanner.ts';

const {
  TAB,
  LINE_FEED,
  CARRIAGE_RETURN,
  SPACE,
  OPEN_BRACKET,
  CLOSE_BRACKET,
  OPEN_BRACE,
  CLOSE_BRACE,
  COMMA,
} = ASCII;

/**
 * The index at which the value with a JSON Pointer (RFC 6901) begins, in the valid JSON text from `start`; if it does
 * not exist, the index of the innermost array or object around it. Takes time linear in the text.
 *
 * @example locateValue('{"a":[1,"x"]}', 0, '/a/1') // 8
 */
export function locateValue(text: string, start: number, pointer: string): number {
  let position = skipBlanks(text, start);
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const found = locateMember(text, position, key);
    if (found === -1) return position;
    position = found;
  }
  return position;
}

/** The index of a member of the array or object at `open`; -1 if there is none. */
function locateMember(text: string, open: number, key: string): number {
  const isObject = text.charCodeAt(open) === OPEN_BRACE;
  if (!isObject && text.charCodeAt(open) !== OPEN_BRACKET) return -1;
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  let position = skipBlanks(text, open + 1);
  for (let index = 0; position < text.length && text.charCodeAt(position) !== close; index += 1) {
    let name: unknown = String(index);
    if (isObject) {
      const end = skipValue(text, position);
      name = JSON.parse(text.slice(position, end));
      // After the colon.
      position = skipBlanks(text, skipBlanks(text, end) + 1);
    }
    if (name === key) return position;
    position = skipBlanks(text, skipValue(text, position));
    if (text.charCodeAt(position) === COMMA) position = skipBlanks(text, position + 1);
  }
  return -1;
}

function skipBlanks(text: string, start: number): number {
  let position = start;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code !== SPACE && code !== TAB && code !== LINE_FEED && code !== CARRIAGE_RETURN) return position;
    position += 1;
  }
}
