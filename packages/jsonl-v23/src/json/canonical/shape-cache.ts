/** Objects with more keys are not cached. */
const MAX_KEYS = 64;
/** Objects with longer keys, all together, are not cached either. */
const MAX_KEY_LENGTH = 1024;

/** One member of a shape. */
export interface ShapeMember {
  readonly key: string;
  /** The key as canonical JSON, with its colon, in UTF-8. */
  readonly quoted: Uint8Array;
  /** The cache for objects inside this member. */
  readonly inner: ShapeCache;
}

/** The keys of an object in its own order, and its members in canonical order once the shape comes a second time. */
export interface Shape {
  readonly keys: readonly string[];
  members: readonly ShapeMember[] | null;
}

/**
 * The last two shapes of the objects at one location in values. The items of a dataset mostly have the same keys in
 * the same order, so those need to be sorted and encoded only once.
 */
export class ShapeCache {
  #last: Shape | null = null;
  #other: Shape | null = null;
  #inner: ShapeCache | null = null;

  /** The cache for what is inside objects that are not cached. */
  get inner(): ShapeCache {
    this.#inner ??= new ShapeCache();
    return this.#inner;
  }

  /** The shape with exactly these keys if it is one of the last two; else null, and the shape is added. */
  find(keys: readonly string[]): Shape | null {
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
  if (keys.length > MAX_KEYS) return false;
  let length = 0;
  for (const key of keys) length += key.length;
  return length <= MAX_KEY_LENGTH;
}
