import { ExactNumber, type JsonValue, jsonPointer } from '@svc/jsonl-v23/json';
import { type RunConfigProblem, RunError } from '../run-error.ts';

/** Problems that an error lists. The search stops there, since a body of 1 MiB can hold very many. */
const MAX_PROBLEMS = 100;
/** Longer names are cut in messages and pointers. */
export const MAX_NAME_CHARS = 256;

/** Where a problem is, as the steps of a JSON Pointer. */
export type Steps = readonly (string | number)[];

/** The problems of a run configuration, at most one for each location and {@link MAX_PROBLEMS} in all. */
export class ConfigProblems {
  readonly #root: string;
  readonly #byLocation = new Map<string, RunConfigProblem>();

  /** @param root JSON Pointer of the configuration in the request body */
  constructor(root: string) {
    this.#root = root;
  }

  get isEmpty(): boolean {
    return this.#byLocation.size === 0;
  }

  get isFull(): boolean {
    return this.#byLocation.size === MAX_PROBLEMS;
  }

  /** Adds a problem unless the list is full or has another one for this location. */
  add(predicate: string, steps: Steps = []): void {
    if (this.isFull) return;
    const path = `${this.#root}${jsonPointer(steps.map(shortened))}`;
    if (!this.#byLocation.has(path)) this.#byLocation.set(path, { message: `${path} ${predicate}.`, path });
  }

  toError(): RunError {
    const errors = [...this.#byLocation.values()];
    const others = errors.length - 1;
    const more =
      others === 0 ? '' : others === 1 ? ' There is 1 more problem.' : ` There are ${others} more problems.`;
    return new RunError('invalid_request', `Invalid run configuration: ${errors[0]?.message}${more}`, {
      errors,
    });
  }
}

const shortened = (step: string | number): string | number =>
  typeof step === 'string' && step.length > MAX_NAME_CHARS ? `${step.slice(0, MAX_NAME_CHARS)}…` : step;

/** The members of an object by name, or the elements of an array by index; empty for any other value. */
export function membersOf(value: JsonValue | undefined): Iterable<[string | number, JsonValue]> {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return [];
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}
