import type { Role } from './languages.ts';
import { endOf, grammarOf, hasAny, type Roles, type Word } from './words.ts';

/** A place of a text that names something: a choice, or a number. */
export interface Name {
  readonly start: number;
  readonly end: number;
  readonly of: number;
  /** Whether it is only a label of a choice. */
  readonly isLabel: boolean;
  /** Whether it begins with a label, as "A) red" does. */
  readonly isLabelled: boolean;
  /** Whether a label is written as the item has it. */
  readonly isOwnCase: boolean;
}

export interface Unit extends Pick<Word, 'start' | 'end' | 'text' | 'isMark' | 'isUnspaced'> {
  readonly name: Name | null;
}

export interface Statement {
  readonly units: readonly Unit[];
  rolesAt(index: number): Roles;
  /** Index of the first unit of the sentence of a unit, ... */
  readonly sentenceStart: Uint32Array;
  /** ... and the index after its last one. */
  readonly sentenceEnd: Uint32Array;
  readonly isDenied: Uint8Array;
  /** Whether a unit belongs to a question or a condition, which state nothing. */
  readonly isHypothetical: Uint8Array;
}

const SENTENCE_END = new Set(['.', '!', '?', ';', '\n', '。', '।']);
const CLAUSE_END = new Set([...SENTENCE_END, ':', '—', '→']);
/** How many words after a name may deny it. */
const MAX_LOOK_AHEAD = 14;
/** Words of a noun after a choice's text. */
const MAX_NOUN_WORDS = 2;

/** @param names in order, without overlaps */
export function toStatement(words: readonly Word[], names: readonly Name[], text: string): Statement {
  const units = withNames(words, names);
  const grammar = grammarOf(units);
  const known: (Roles | undefined)[] = [];
  const rolesAt = (index: number): Roles => {
    known[index] ??= grammar.rolesAt(index);
    return known[index];
  };
  const parts = { units, rolesAt, ...sentencesOf(units, text) };
  return { ...parts, ...meaningOf(parts) };
}

function withNames(words: readonly Word[], names: readonly Name[]): Unit[] {
  const units: Unit[] = [];
  let next = 0;
  for (const word of words) {
    while (next < names.length && (names[next]?.end ?? 0) <= word.start) next += 1;
    const name = names[next];
    if (name === undefined || word.end <= name.start) units.push({ ...word, name: null });
    else if (units.at(-1)?.name !== name) {
      units.push({ ...word, start: name.start, end: name.end, text: '', isMark: false, name });
    }
  }
  return units;
}

function sentencesOf(units: readonly Unit[], text: string): Pick<Statement, 'sentenceStart' | 'sentenceEnd'> {
  const sentenceStart = new Uint32Array(units.length);
  const sentenceEnd = new Uint32Array(units.length);
  let start = 0;
  for (const [index, unit] of units.entries()) {
    sentenceStart[index] = start;
    if (index < units.length - 1 && !endsSentence(unit, text)) continue;
    sentenceEnd.fill(index + 1, start, index + 1);
    start = index + 1;
  }
  return { sentenceStart, sentenceEnd };
}

/** A full stop inside of an abbreviation, such as `e.g.`, ends no sentence. */
function endsSentence({ text: mark, end, isMark }: Unit, text: string): boolean {
  return isMark && SENTENCE_END.has(mark) && (mark !== '.' || !/[\p{L}\p{N}]/u.test(text[end] ?? ''));
}

/** Goes through the units once and notes what is denied, and what is a question or a condition. */
function meaningOf(
  statement: Omit<Statement, 'isDenied' | 'isHypothetical'>,
): Pick<Statement, 'isDenied' | 'isHypothetical'> {
  const { units, rolesAt, sentenceEnd } = statement;
  const isDenied = new Uint8Array(units.length);
  const isHypothetical = new Uint8Array(units.length);
  let isDenying = false;
  /** Whether a name was denied since then. */
  let hasDenied = false;
  let isRelative = false;
  let isIf = false;
  const stop = (): void => {
    isDenying = false;
    hasDenied = false;
    isRelative = false;
  };
  for (let index = 0; index < units.length; index += 1) {
    const unit = units[index] as Unit;
    const roles = rolesAt(index);
    if (units[(sentenceEnd[index] ?? 0) - 1]?.text === '?' || isIf) isHypothetical[index] = 1;
    if (unit.name !== null) {
      if (isDenying || deniedAfter(statement, index)) isDenied[index] = 1;
      if (isDenying) hasDenied = true;
      if (rolesAt(index + 1).has('if')) isHypothetical[index] = 1;
    } else if (unit.isMark && CLAUSE_END.has(unit.text)) {
      if (unit.text !== ':' || hasDenied) stop();
      isIf = false;
    } else if (roles.has('no') && !isParticiple(statement, index)) {
      const after = roles.get('no') ?? index + 1;
      stop();
      isDenying = true;
      isRelative = [index - 1, index - 2].some((at) => at >= 0 && rolesAt(at).has('that'));
      index = Math.max(index, after - 1);
    } else if (unit.text === ',' || roles.has('join')) {
      if (!(hasDenied && continuesList(statement, roles.get('join') ?? index + 1))) stop();
      if (unit.text === ',') isIf = false;
    } else if (hasAny(roles, 'but', 'because', 'so')) stop();
    else if (isRelative && roles.has('is')) stop();
    if (unit.name === null && roles.has('if')) isIf = true;
    if (unit.name === null && roles.has('wrong') && isHeading(statement, index)) isDenying = true;
  }
  return { isDenied, isHypothetical };
}

/** Whether "excluded" follows "is": it rejects what precedes it. */
function isParticiple(statement: Pick<Statement, 'units' | 'rolesAt'>, index: number): boolean {
  const { rolesAt, units } = statement;
  const end = rolesAt(index).get('wrong');
  if (end === undefined || units[skipFillers(statement, end)]?.name != null) return false;
  const before = [index - 1, index - 2].filter((at) => at >= 0 && !units[at]?.isMark);
  return before.some((at) => rolesAt(at).has('is') || rolesAt(at).has('was'));
}

/** Whether a rejection is the heading of a list: "Incorrect options: A, B". */
function isHeading(
  { units, rolesAt, sentenceStart }: Omit<Statement, 'isDenied' | 'isHypothetical'>,
  index: number,
): boolean {
  if (index > (sentenceStart[index] ?? 0) + 2) return false;
  const after = rolesAt(index).get('wrong') ?? index + 1;
  const end = endOf(rolesAt(after), 'plural', 'option', 'answer') ?? after;
  return units[end]?.text === ':';
}

/** Whether a list goes on with a name here, and not a new statement about it. */
function continuesList(statement: Pick<Statement, 'units' | 'rolesAt'>, from: number): boolean {
  const at = skipFillers(statement, from);
  const { units, rolesAt } = statement;
  if (units[at]?.name == null) return false;
  const after = units[at + 1];
  if (after === undefined || after.name !== null || after.isMark) return after?.text !== ':';
  return hasAny(rolesAt(at + 1), 'join', 'because', 'but', 'so');
}

/** The index after words that may stand before a name. */
export function skipFillers(
  { units, rolesAt }: Pick<Statement, 'units' | 'rolesAt'>,
  from: number,
  more: readonly Role[] = [],
): number {
  let at = from;
  for (let steps = 0; steps < MAX_LOOK_AHEAD; steps += 1) {
    const unit = units[at];
    if (unit === undefined || unit.name !== null) return at;
    const end = endOf(rolesAt(at), 'filler', 'a', 'option', 'correct', 'join', ...more);
    if (end !== undefined) at = end;
    else if (unit.isMark && '([{<"|'.includes(unit.text)) at += 1;
    else return at;
  }
  return at;
}

/** Whether words after a name reject it, or the list that it belongs to: "A and B are wrong", "A: wrong". */
function deniedAfter({ units, rolesAt }: Pick<Statement, 'units' | 'rolesAt'>, index: number): boolean {
  let hasVerb = false;
  // The noun of a choice's text: "a red apple is not ...".
  let hasNoun = false;
  const nounEnd = units[index]?.name?.isLabel === true ? index : index + MAX_NOUN_WORDS;
  const isPredicate = followsVerb({ units, rolesAt }, index);
  const isEntry = units[index]?.name?.isLabel === true && (units[index - 1]?.text ?? '\n') === '\n';
  if (isEntry && units[index + 1]?.text === '.' && rolesAt(index + 2).has('wrong')) return true;
  for (let at = index + 1; at < Math.min(units.length, index + MAX_LOOK_AHEAD); ) {
    const unit = units[at] as Unit;
    if (unit.name !== null) {
      if (hasVerb || isPredicate) return false;
      at += 1;
      continue;
    }
    const roles = rolesAt(at);
    const [wrong, no] = [roles.get('wrong'), roles.get('no')];
    const negative = wrong ?? no;
    const isVerdict = wrong !== undefined && (hasVerb || unit.isMark || roles.has('verbless'));
    if (negative !== undefined && (isVerdict || no !== undefined)) {
      // "isn't" is a verb too.
      if (hasNoun && !hasVerb && !unit.text.endsWith("n't")) return false;
      // "C not A" denies A.
      return (
        (isVerdict && (no === undefined || hasVerb)) ||
        units[skipFillers({ units, rolesAt }, negative)]?.name == null
      );
    }
    const praised = roles.get('correct');
    if (praised !== undefined && roles.has('verbless')) return isDeniedAtEnd(rolesAt, praised);
    if (praised !== undefined && hasVerb) return false;
    const verb = endOf(roles, 'is', 'was', 'may');
    const end = verb ?? endOf(roles, 'filler', 'a', 'join', 'option');
    if (verb !== undefined || (unit.isMark && ':=-–—'.includes(unit.text))) hasVerb = true;
    if (end !== undefined) at = end;
    else if (roles.size === 0 && !unit.isMark && at <= nounEnd && (hasNoun || at === index + 1)) {
      hasNoun = true;
      at += 1;
    } else if (unit.isMark && (':=-–—)]}>(/'.includes(unit.text) || (unit.text === ',' && !hasVerb))) at += 1;
    else return false;
  }
  return false;
}

/** Whether praise ends in a denial, as in languages with the verb at the end: "A는 정답이 아닙니다". */
function isDeniedAtEnd(rolesAt: Statement['rolesAt'], from: number): boolean {
  let at = from;
  for (let steps = 0; steps < MAX_NOUN_WORDS * 2; steps += 1) {
    const roles = rolesAt(at);
    if (hasAny(roles, 'wrong', 'no')) return true;
    const end = endOf(roles, 'answer', 'option', 'is', 'filler', 'a');
    if (end === undefined) return false;
    at = end;
  }
  return false;
}

/** Whether the words before a name make it what they say of something: "the answer is A". */
function followsVerb({ units, rolesAt }: Pick<Statement, 'units' | 'rolesAt'>, index: number): boolean {
  for (let at = index - 1; at >= Math.max(0, index - 4); at -= 1) {
    const unit = units[at] as Unit;
    const roles = rolesAt(at);
    if (hasAny(roles, 'is', 'pick', 'say') || unit.text === ':' || unit.text === '=') return true;
    if (unit.name !== null) return false;
    if (!hasAny(roles, 'filler', 'a', 'option') && !(unit.isMark && '([{<'.includes(unit.text))) return false;
  }
  return false;
}
