import type { SourceLocation } from '@svc/jsonl-v23';
import type { LostCounter } from '../lost.ts';
import type { ToolScore } from '../tool.ts';

/** Scorers of one run; a package has no more. */
const MAX_SCORERS = 16;
/** Scorers that are looked at before the rest of them is known. */
const MAX_CANDIDATES = 256;
/** Means of a tool are sums of doubles in another order. */
const TOLERANCE = 1e-6;

interface Candidate {
  readonly name: string;
  readonly section: string;
  readonly first: SourceLocation;
  count: number;
  sum: number;
  problem: string | null;
  problemAt: SourceLocation;
}

/** Takes or leaves the scorer of a section as a whole: nobody has measured the mean of some of its scores. */
export class StagedScorers {
  readonly #lost: LostCounter;
  /** By section, then by name, in the order in which they were found. */
  readonly #candidates = new Map<string, Map<string, Candidate>>();
  readonly #names = new Set<string>();
  #taken = new Map<string, ReadonlySet<string>>();

  constructor(lost: LostCounter) {
    this.#lost = lost;
  }

  add(
    section: string,
    scores: ReadonlyMap<string, ToolScore>,
    location: SourceLocation,
  ): ReadonlyMap<string, ToolScore> {
    const kept = new Map<string, ToolScore>();
    let beyond = 0;
    for (const [name, score] of scores) {
      if (!this.#names.has(name) && this.#names.size === MAX_CANDIDATES) {
        beyond += 1;
        continue;
      }
      this.#names.add(name);
      const found = this.#candidate(section, name, location);
      found.count += 1;
      found.sum += score.score ?? 0;
      if (found.problem === null && score.problem !== null) {
        found.problem = score.problem;
        found.problemAt = location;
      }
      if (found.problem === null) kept.set(name, score);
    }
    this.#lost.add(BEYOND, location, beyond);
    return kept;
  }

  /** Decides, after the last sample, and lists what is left. @param statedMean the mean that the files state */
  decide(statedMean: (section: string, scorer: string) => number | undefined): void {
    const names = new Set<string>();
    for (const [section, candidates] of this.#candidates) {
      const taken = new Set<string>();
      for (const { name, count, sum, problem, problemAt, first } of candidates.values()) {
        const stated = statedMean(section, name);
        if (problem !== null) this.#lost.add(`scorer ${name}: ${problem}`, problemAt, count);
        else if (stated !== undefined && !(Math.abs(sum / count - stated) <= TOLERANCE)) {
          this.#lost.add(`scorer ${name}: not the mean of its scores`, first, count);
        } else if (names.has(name) || names.size < MAX_SCORERS) {
          names.add(name);
          taken.add(name);
        } else this.#lost.add(BEYOND, first, count);
      }
      this.#taken.set(section, taken);
    }
  }

  takenIn(section: string): ReadonlySet<string> {
    return this.#taken.get(section) ?? new Set();
  }

  #candidate(section: string, name: string, location: SourceLocation): Candidate {
    let candidates = this.#candidates.get(section);
    if (candidates === undefined) {
      candidates = new Map();
      this.#candidates.set(section, candidates);
    }
    let found = candidates.get(name);
    if (found === undefined) {
      found = {
        ...{ name, section, first: location, count: 0, sum: 0 },
        ...{ problem: null, problemAt: location },
      };
      candidates.set(name, found);
    }
    return found;
  }
}

const BEYOND = `scores of scorers beyond ${MAX_SCORERS}`;
