/** An object with more keys is not remembered. */
const MOST_KEYS = 64;
/** Nor is one with longer keys, all together. */
const MOST_KEY_CHARS = 1024;

/** One member of a shape. */
export interface ShapeMember {
  readonly key: string;
  /** The key as canonical JSON, with its colon, in UTF-8. */
  readonly quoted: Uint8Array;
  /** What is remembered of the objects inside this member. */
  readonly inner: ShapeMemory;
}

/** Keys of an object that was met, in its own order, and its members in canonical order once it is met again. */
export interface Shape {
  readonly keys: readonly string[];
  members: readonly ShapeMember[] | null;
}

/**
 * The last two shapes of the objects at one place of a value. The items of a dataset mostly have the same keys in
 * the same order, so their order and their written form need to be found once only.
 */
export class ShapeMemory {
  #last: Shape | null = null;
  #other: Shape | null = null;
  #inner: ShapeMemory | null = null;

  /** For what is inside objects that are not remembered. */
  get inner(): ShapeMemory {
    this.#inner ??= new ShapeMemory();
    return this.#inner;
  }

  /** The shape with exactly these keys if one of the last two objects here had it; else it is remembered now. */
  recall(keys: readonly string[]): Shape | null {
    const last = this.#last;
    if (last !== null && isSame(last.keys, keys)) return last;
    const other = this.#other;
    this.#other = last;
    if (other !== null && isSame(other.keys, keys)) {
      this.#last = other;
      return other;
    }
    this.#last = isSmall(keys) ? { keys, members: null } : null;
    return null;
  }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return false;
  }
  return true;
}

function isSmall(keys: readonly string[]): boolean {
  if (keys.length > MOST_KEYS) return false;
  let chars = 0;
  for (const key of keys) chars += key.length;
  return chars <= MOST_KEY_CHARS;
}
