import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { Place } from './lost.ts';
import type { ToolScore } from './tool.ts';

const MAX_NAME = 64;

export class ScoreList {
  readonly scores: Map<string, ToolScore> = new Map();
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * @param passed the verdict of the tool; without one, 1 has passed, 0 has failed, and a score between has neither
   * @param isFromZero whether the scale of the scorer begins with 0
   */
  add(
    scorer: string,
    value: JsonValue | undefined,
    explanation: string | null,
    passed: boolean | null = passedBy(value),
    isFromZero = true,
  ): void {
    const score = typeof value === 'boolean' ? Number(value) : value;
    const name = scorerName(scorer);
    const problem = isFromZero ? problemOf(score) : 'another scale';
    if (this.scores.has(name)) this.#place.lost(`second score of ${name}`);
    else {
      this.scores.set(name, {
        score: problem === null ? (score as number) : null,
        problem,
        passed,
        explanation,
      });
    }
  }
}

export function passedBy(score: JsonValue | undefined): boolean | null {
  const value = typeof score === 'boolean' ? Number(score) : score;
  return value === 1 ? true : value === 0 ? false : null;
}

function problemOf(value: JsonValue | undefined): string | null {
  if (value === null || value === undefined) return 'missing values';
  if (typeof value === 'string') return 'texts';
  if (Array.isArray(value)) return 'lists';
  if (isJsonObject(value)) return 'dicts';
  return typeof value === 'number' && value >= 0 && value <= 1 ? null : 'outside 0 to 1';
}

/** A name that a scorer may have in packages: letters, digits and `_.,-`. */
export function scorerName(name: string): string {
  const plain = name.replaceAll(/[^\w.,-]/g, '_').slice(0, MAX_NAME);
  return plain === '' ? 'score' : plain;
}
