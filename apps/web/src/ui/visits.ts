/** What this browser keeps of visits: when it last saw the start page, and when the visit before this one ended. */
const KEY = 'svc.visit';

/** A visit ends when nothing is looked at for so long. */
const PAUSE_MS = 30 * 60_000;

/** Places of the palette. */
const PLACES_KEY = 'svc.places';
const MAX_PLACES = 8;

export interface Place {
  /** Without the base of the console. */
  readonly path: string;
  readonly title: string;
}

/** Reads what this browser keeps; the fallback where it keeps nothing, or forbids to. */
function read<Value>(key: string, fallback: Value): Value {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? 'null') as Value | null) ?? fallback;
  } catch {
    return fallback;
  }
}

function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // a browser may forbid it: then each visit is the first
  }
}

/** When the last visit ended, in milliseconds; null on the first one. A look at the page belongs to the visit that goes on. */
export function readVisit(nowMs: number): number | null {
  const before = read<{ readonly seenMs: number; readonly sinceMs: number | null } | null>(KEY, null);
  const sinceMs = before === null ? null : nowMs - before.seenMs > PAUSE_MS ? before.seenMs : before.sinceMs;
  keep(KEY, { seenMs: nowMs, sinceMs });
  return sinceMs;
}

export const readPlaces = (): readonly Place[] => read<readonly Place[]>(PLACES_KEY, []).slice(0, MAX_PLACES);

export function keepPlace(place: Place): void {
  const others = readPlaces().filter(({ path }) => path !== place.path);
  keep(PLACES_KEY, [place, ...others].slice(0, MAX_PLACES));
}
