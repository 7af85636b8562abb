/*
 * One file: the forms of a conclusion share how a list, a phrase and a sentence are read.
 */

import { type Name, type Statement, skipFillers, type Unit } from './statement.ts';
import { endOf, hasAny } from './words.ts';

/** A place of a text that states an answer. */
export interface Conclusion {
  /** Indexes of what it names; several for a list or a hedge. */
  readonly of: ReadonlySet<number>;
  /** Indexes of the first unit of its words and after its last one. */
  readonly start: number;
  readonly end: number;
  /** Whether it praises a choice, as "A is correct" does: it may praise another one too. */
  readonly isPraise: boolean;
  /** Whether it adds to the one before it, as "or perhaps B" does. */
  readonly isGuess: boolean;
}

/** How far a word that names the answer may stand from its verb, in words. */
const MAX_SUBJECT_UNITS = 12;

/**
 * The conclusions of a text, in order. Each has one or more choices.
 *
 * @param takesPlural whether "the answers are" states them
 * @param weak choices whose texts are words that every text has, by their texts: they are only read as a conclusion
 */
export function findConclusions(
  statement: Statement,
  { takesPlural, weak }: { readonly takesPlural: boolean; readonly weak: ReadonlyMap<string, number> },
): Conclusion[] {
  const found: Conclusion[] = [];
  const reader = new ConclusionReader(statement, weak);
  for (let index = 0; index < statement.units.length; index += 1) {
    const one =
      reader.boxed(index) ??
      (statement.isHypothetical[index] === 1
        ? null
        : (reader.subject(index, takesPlural) ?? reader.praise(index) ?? reader.statement(index)));
    if (one !== null) found.push(one);
  }
  return found;
}

class ConclusionReader {
  readonly #statement: Statement;
  readonly #units: readonly Unit[];
  readonly #weak: ReadonlyMap<string, number>;

  constructor(statement: Statement, weak: ReadonlyMap<string, number>) {
    this.#statement = statement;
    this.#units = statement.units;
    this.#weak = weak;
  }

  /** `\boxed{B}` */
  boxed(index: number): Conclusion | null {
    const units = this.#units;
    const isBox =
      units[index]?.text === 'boxed' && units[index - 1]?.text === '\\' && units[index + 1]?.text === '{';
    if (!isBox) return null;
    const of = new Set<number>();
    let end = index + 2;
    for (let depth = 1; end < units.length && depth > 0 && end < index + 500; end += 1) {
      const unit = units[end] as Unit;
      if (unit.text === '{') depth += 1;
      else if (unit.text === '}') depth -= 1;
      if (unit.name !== null && !this.#isDenied(end)) of.add(unit.name.of);
    }
    const weak = this.#weak.get(units[index + 2]?.text ?? '');
    if (of.size === 0 && weak !== undefined && end === index + 4) of.add(weak);
    return this.#conclusion(of, index - 1, end);
  }

  /** "The answer is B", "Answer: B" */
  subject(index: number, takesPlural: boolean): Conclusion | null {
    const roles = this.#statement.rolesAt(index);
    const isNoun = hasAny(roles, 'answer', 'option');
    const isPlural = roles.has('plural');
    if (!(isNoun || (isPlural && takesPlural) || roles.has('correct')) || (isPlural && !takesPlural))
      return null;
    if (this.#isOther(index)) return null;
    const after = endOf(roles, 'answer', 'option', 'plural', 'correct') ?? 0;
    const sentenceEnd = this.#statement.sentenceEnd[index] ?? 0;
    const limit = Math.min(sentenceEnd, index + MAX_SUBJECT_UNITS);
    let lastVerb: number | null = null;
    let isGuess = false;
    for (let at = after; at < limit; ) {
      const unit = this.#units[at] as Unit;
      const own = this.#statement.rolesAt(at);
      if (unit.name !== null) break;
      if (own.has('may')) isGuess = true;
      const verb = own.get('is') ?? (isVerbMark(unit, at, after) ? at + 1 : undefined);
      if (verb !== undefined) {
        lastVerb = verb;
        const isHeading = at === after || roles.has('answer') === false;
        const from = isHeading && !isPlural ? this.#overLines(verb) : verb;
        const said = this.#readAt(from);
        const isList = said !== null && from > verb && this.#goesOnAsList(said);
        // "The answer could be A" states nothing; "… A or B" is a hedge.
        if (said !== null && isGuess && said.of.size === 1) return null;
        if (said !== null && !isList) return this.#conclusion(said.of, index, said.end);
      }
      at = verb ?? own.get('filler') ?? at + 1;
    }
    if (lastVerb === null) return roles.has('answer') ? this.#direct(index, after) : null;
    return this.#begins(index) && !isGuess ? this.#only(index, lastVerb, sentenceEnd) : null;
  }

  /** "B is correct", "B is the answer", "Both A and C are right" */
  praise(index: number): Conclusion | null {
    if (this.#units[index]?.name == null || this.#isDenied(index) || this.#continuesList(index)) return null;
    const list = this.#list(index, true);
    const isEntry = this.#units[list.end]?.text === '.' && (this.#units[index - 1]?.text ?? '\n') === '\n';
    let at = isEntry && this.#statement.rolesAt(list.end + 1).has('correct') ? list.end + 1 : list.end;
    let isGuess = false;
    let hasVerb = at > list.end;
    for (let steps = 0; steps < MAX_SUBJECT_UNITS; steps += 1) {
      const unit = this.#units[at];
      if (unit === undefined || unit.name !== null) return null;
      const roles = this.#statement.rolesAt(at);
      if (roles.has('no') || (roles.has('wrong') && !roles.has('correct'))) return null;
      const praise = roles.get('correct') ?? (hasVerb ? roles.get('answer') : undefined);
      const isPraised = praise !== undefined && (hasVerb || unit.isMark || roles.has('verbless'));
      const picked = /[a-z]/.test(unit.text) ? undefined : roles.get('pick');
      if (isPraised || picked !== undefined) {
        if (isGuess && list.of.size === 1) return null;
        if (this.#isBoundPraise(praise ?? picked ?? at)) return null;
        return this.#conclusion(list.of, index, praise ?? picked ?? at, true);
      }
      if (roles.has('may')) isGuess = true;
      if (roles.has('is') || isDash(unit)) hasVerb = true;
      const end = endOf(roles, 'is', 'may', 'filler', 'option');
      if (end === undefined && !isDash(unit) && !isCloser(unit)) return null;
      at = end ?? at + 1;
    }
    return null;
  }

  /** "So B", "I pick B", "It is B", "Wait, B", "or perhaps B" */
  statement(index: number): Conclusion | null {
    const roles = this.#statement.rolesAt(index);
    const pick = roles.get('pick');
    if (pick !== undefined && this.#isOwnPick(index)) {
      const said = this.#readAt(pick);
      if (said !== null) return this.#conclusion(said.of, index, said.end);
    }
    const isStart = this.#beginsClause(index);
    const so = endOf(roles, 'so', 'rest');
    if (so !== undefined && isStart) {
      const said = this.#direct(index, so);
      if (said !== null) return said;
      if (this.#begins(index)) {
        const only = this.#only(index, so, this.#statement.sentenceEnd[index] ?? 0);
        if (only !== null) return only;
      }
    }
    const maybe = roles.get('maybe');
    if (maybe !== undefined && isStart) {
      const said = this.#direct(index, maybe);
      if (said !== null) return { ...said, isGuess: true };
    }
    const say = roles.get('say') ?? (isStart ? roles.get('wait') : undefined);
    return say === undefined ? null : this.#direct(index, say, true);
  }

  #conclusion(of: ReadonlySet<number>, start: number, end: number, isPraise = false): Conclusion | null {
    return of.size === 0 ? null : { of, start, end, isPraise, isGuess: false };
  }

  /** What a word names right after it, up to the end of its phrase. */
  #direct(index: number, after: number, isLabelOnly = false): Conclusion | null {
    let at = skipFillers(this.#statement, after, ['answer']);
    if (this.#units[at]?.text === ',') at = skipFillers(this.#statement, at + 1, ['say', 'so']);
    if (isDash(this.#units[at])) at = skipFillers(this.#statement, at + 1);
    const name = this.#units[at]?.name;
    if (name == null || this.#isDenied(at) || (isLabelOnly && !name.isLabel)) return null;
    const list = this.#list(at, false);
    return this.#endsStatement(list.end) ? this.#conclusion(list.of, index, list.end) : null;
  }

  /** Whether a phrase ends here, after its verb in languages that put it there: "उत्तर B है", "정답은 B입니다". */
  #endsStatement(at: number): boolean {
    if (this.#endsPhrase(at)) return true;
    const isVerbLast =
      !/[a-z]/.test(this.#units[at]?.text ?? '') || this.#statement.rolesAt(at).has('option');
    return isVerbLast && this.#endsPhrase(skipFillers(this.#statement, at, ['is', 'pick']));
  }

  #readAt(from: number): { readonly of: ReadonlySet<number>; readonly end: number } | null {
    let at = from;
    for (let steps = 0; steps < MAX_SUBJECT_UNITS; steps += 1) {
      const unit = this.#units[at];
      if (unit === undefined) return null;
      if (unit.name !== null) {
        if (this.#isDenied(at)) return null;
        const list = this.#list(at, false);
        const isCondition = this.#statement.rolesAt(list.end).has('if');
        return isCondition ? null : list;
      }
      const weak = this.#weak.get(unit.text);
      if (weak !== undefined && this.#endsPhrase(at + 1)) return { of: new Set([weak]), end: at + 1 };
      const roles = this.#statement.rolesAt(at);
      const end = endOf(roles, 'filler', 'a', 'option', 'correct', 'is', 'answer');
      if (end !== undefined) at = end;
      else if (unit.isMark && '([{<>:=-–—→|/'.includes(unit.text)) at += 1;
      else return null;
    }
    return null;
  }

  /** The only label before a reason in the rest of a sentence, if there is one. */
  #only(index: number, from: number, sentenceEnd: number): Conclusion | null {
    let only: Name | null = null;
    let end = from;
    for (let at = from; at < sentenceEnd; at += 1) {
      const unit = this.#units[at] as Unit;
      if (unit.name === null && this.#statement.rolesAt(at).has('because')) break;
      if (unit.name === null || !unit.name.isLabel || this.#isDenied(at)) continue;
      if (only !== null && only.of !== unit.name.of) return null;
      only = unit.name;
      end = at + 1;
    }
    return only === null ? null : this.#conclusion(new Set([only.of]), index, end);
  }

  #list(from: number, isSubject: boolean): { readonly of: Set<number>; readonly end: number } {
    const of = new Set([this.#units[from]?.name?.of ?? 0]);
    let end = from + 1;
    for (let at = end; at < from + 2_000; ) {
      const next = this.#nextInList(at);
      const unit = this.#units[next];
      if (unit?.name == null) break;
      if (this.#isDenied(next)) break;
      const isAfterComma = next > at;
      const follows = next + 1;
      const isMember =
        isSubject ||
        !isAfterComma ||
        this.#endsStatement(follows) ||
        this.#nextInList(follows) > follows ||
        this.#units[follows]?.name != null;
      if (!isMember) break;
      of.add(unit.name.of);
      end = follows;
      at = follows;
    }
    return { of, end };
  }

  /** The index of the next member of a list, or of what follows it. */
  #nextInList(from: number): number {
    let at = from;
    for (let steps = 0; steps < 8; steps += 1) {
      const unit = this.#units[at];
      if (unit === undefined || unit.name !== null) return at;
      const roles = this.#statement.rolesAt(at);
      const isSeparator = roles.has('join') || (unit.isMark && ',;/&+|-–)](['.includes(unit.text));
      const isBetween = at > from && hasAny(roles, 'filler', 'option', 'a', 'maybe');
      if (!isSeparator && !isBetween) return from;
      at = endOf(roles, 'join', 'filler', 'option', 'a', 'maybe') ?? at + 1;
    }
    return from;
  }

  /** Whether a name is a later member of a list of names. */
  #continuesList(index: number): boolean {
    for (let at = index - 1; at >= Math.max(0, index - 4); at -= 1) {
      const unit = this.#units[at] as Unit;
      if (unit.name !== null) return this.#nextInList(at + 1) === index && !this.#isDenied(at);
      if (unit.text === '\n') return false;
    }
    return false;
  }

  /** "Is right above", "is correct that": the praise is about another thing. */
  #isBoundPraise(at: number): boolean {
    return ['to', 'about', 'if', 'only', 'in', 'above', 'below'].includes(this.#units[at]?.text ?? '');
  }

  #isDenied(index: number): boolean {
    return this.#statement.isDenied[index] === 1;
  }

  #endsPhrase(at: number): boolean {
    const unit = this.#units[at];
    if (unit === undefined || (unit.isMark && unit.text !== "'" && unit.text !== '-')) return true;
    return hasAny(this.#statement.rolesAt(at), 'because', 'so', 'but', 'no', 'that');
  }

  /** Whether the verb's subject is the model: "many pick A" states nothing. */
  #isOwnPick(index: number): boolean {
    const before = this.#units[index - 1];
    if (
      before === undefined ||
      before.isMark ||
      before.isUnspaced ||
      !/^[a-z]/.test(this.#units[index]?.text ?? '')
    )
      return true;
    return this.#statement.rolesAt(index - 1).size > 0;
  }

  /** Whether "wrong" or "other" stands before a noun: what it names is not the answer. */
  #isOther(index: number): boolean {
    if (this.#units[index - 1]?.text === '/') return true;
    if (index > 0 && this.#statement.rolesAt(index - 1).has('that')) return true;
    const start = this.#statement.sentenceStart[index] ?? 0;
    for (let at = index - 1; at >= Math.max(start, index - 3); at -= 1) {
      const roles = this.#statement.rolesAt(at);
      if (this.#units[at]?.name != null || this.#units[at]?.isMark) return false;
      if (hasAny(roles, 'other', 'wrong', 'no')) return true;
    }
    return false;
  }

  /** Whether only words that name nothing precede a unit in its sentence. */
  #begins(index: number): boolean {
    const start = this.#statement.sentenceStart[index] ?? 0;
    if (index - start > 8) return false;
    for (let at = start; at < index; at += 1) {
      const roles = this.#statement.rolesAt(at);
      const isLight = hasAny(
        roles,
        'filler',
        'a',
        'correct',
        'so',
        'wait',
        'join',
        'but',
        'answer',
        'option',
      );
      if (!isLight && !this.#units[at]?.isMark) return false;
    }
    return true;
  }

  #beginsClause(index: number): boolean {
    const start = this.#statement.sentenceStart[index] ?? 0;
    if (index === start) return true;
    const before = this.#units[index - 1] as Unit;
    if (before.isMark || before.isUnspaced) return true;
    return hasAny(this.#statement.rolesAt(index - 1), 'join', 'but', 'so', 'wait');
  }

  #overLines(from: number): number {
    let at = from;
    while (this.#units[at]?.text === '\n') at += 1;
    return at;
  }

  /** Whether the line after an answer begins with another choice: it is the first line of a list of the choices. */
  #goesOnAsList({ of, end }: { readonly of: ReadonlySet<number>; readonly end: number }): boolean {
    let at = end;
    while (at < end + 200 && at < this.#units.length && this.#units[at]?.text !== '\n') at += 1;
    const name = this.#units[skipFillers(this.#statement, this.#overLines(at))]?.name;
    return name?.isLabelled === true && !of.has(name.of);
  }
}

const isDash = (unit: Unit | undefined): boolean => unit?.isMark === true && ':=–—-→'.includes(unit.text);
const isCloser = (unit: Unit): boolean => unit.isMark && ')]}>'.includes(unit.text);

/** A mark in place of a verb: `:`, `=`, a dash, and `>` of `<answer>`. */
const isVerbMark = ({ isMark, text }: Unit, at: number, after: number): boolean =>
  isMark && (':=→'.includes(text) || (at === after && '>]—–-'.includes(text)));
