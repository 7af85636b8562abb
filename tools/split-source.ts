/** A part of a TypeScript or JavaScript source. */
export interface SourcePiece {
  readonly kind: 'code' | 'comment' | 'string';
  readonly text: string;
  /** Index of its first character in the source. */
  readonly start: number;
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/y;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const TEMPLATE = /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/y;
/** What comes before a pattern and never before a division. */
const BEFORE_PATTERN = /(?:^|[^\w)\]}$'"`\s]|\b(?:return|typeof|case|of|in|await|yield|void))\s*$/;

/** Splits a source into code, comments and strings; patterns count as code, templates as strings around code. */
export function* splitSource(source: string): Generator<SourcePiece> {
  /** How many braces are open in each `${…}` that the scanner is in. */
  const templates: number[] = [];
  let start = 0;
  let index = 0;
  const piece = (kind: SourcePiece['kind'], end: number): SourcePiece => {
    const text = source.slice(start, end);
    const found = { kind, text, start };
    start = end;
    return found;
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = index;
    return pattern.exec(source)?.[0];
  };
  while (index < source.length) {
    const character = source[index];
    const depth = templates.at(-1);
    let kind: SourcePiece['kind'] | undefined;
    let text: string | undefined;
    if (character === '/') {
      text = match(COMMENT);
      if (text !== undefined) kind = 'comment';
      else if (BEFORE_PATTERN.test(source.slice(Math.max(0, index - 40), index))) text = match(PATTERN);
    } else if (character === "'" || character === '"') {
      text = match(STRING);
      kind = 'string';
    } else if (character === '`' || (character === '}' && depth === 0)) {
      text = match(TEMPLATE);
      kind = 'string';
      if (character === '}') templates.pop();
      if (text?.endsWith('${')) templates.push(0);
    } else if (depth !== undefined && (character === '{' || character === '}')) {
      templates[templates.length - 1] = depth + (character === '{' ? 1 : -1);
    }
    if (text === undefined) {
      index += 1;
      continue;
    }
    if (kind !== undefined) {
      if (index > start) yield piece('code', index);
      yield piece(kind, index + text.length);
    }
    index += text.length;
  }
  if (index > start) yield piece('code', index);
}
