import type { SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { LostCounter } from './lost.ts';
import type { ToolScore } from './tool.ts';

const MAX_NAME = 64;

/** The scores of a sample, by names that packages may have. */
export class ScoreList {
  readonly scores: Map<string, ToolScore> = new Map();
  readonly #lost: LostCounter;
  readonly #location: SourceLocation;

  constructor(lost: LostCounter, location: SourceLocation) {
    this.#lost = lost;
    this.#location = location;
  }

  /** Adds what a scorer says. What is not a number from 0 to 1 has no place, and is counted. */
  add(scorer: string, value: JsonValue | undefined, explanation: string | null): void {
    const score = typeof value === 'boolean' ? Number(value) : value;
    const problem = problemOf(score);
    const name = scorerName(scorer);
    if (problem !== null) this.#lost.add(`${problem} ${name}`, this.#location);
    else if (this.scores.has(name)) this.#lost.add(`second score of ${name}`, this.#location);
    else this.scores.set(name, { score: score as number, explanation });
  }
}

/** Why a value is not a score; null if it is one. */
function problemOf(value: JsonValue | undefined): string | null {
  if (value === null || value === undefined) return 'missing score of';
  if (typeof value === 'string') return 'text as score of';
  if (isJsonObject(value) || Array.isArray(value))
    return Array.isArray(value) ? 'list as score of' : 'dict as score of';
  if (typeof value !== 'number') return 'score with too many digits of';
  return value >= 0 && value <= 1 ? null : 'score outside 0 to 1 of';
}

/** A name that a scorer may have in packages: letters, digits and `_.,-`. */
function scorerName(name: string): string {
  const plain = name.replaceAll(/[^\w.,-]/g, '_').slice(0, MAX_NAME);
  return plain === '' ? 'score' : plain;
}
