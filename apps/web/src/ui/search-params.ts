export type RawSearch = Readonly<Record<string, unknown>>;

/** Reads a parameter of an address; undefined if it is absent or not what the page takes. */
type Reader<Value> = (stated: unknown) => Value | undefined;

type Search<Values> = { readonly [Name in keyof Values]?: Values[Name] | undefined };

/** The parser of the address of a page, from a table of its parameters. What it does not know is left out. */
export const searchParser =
  <Values>(readers: { readonly [Name in keyof Values]: Reader<Values[Name]> }) =>
  (search: RawSearch): Search<Values> =>
    Object.fromEntries(
      Object.entries<Reader<unknown>>(readers).map(([name, read]) => [name, read(search[name])]),
    ) as Search<Values>;

/** The search of an address, with what is stated. */
export function searchText(search: object): string {
  const stated = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(stated.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** A text that is not empty. The router reads digits as numbers. */
export function text(stated: unknown): string | undefined {
  if (typeof stated === 'number' || typeof stated === 'boolean') return String(stated);
  return typeof stated === 'string' && stated !== '' ? stated : undefined;
}

export function number(stated: unknown): number | undefined {
  const value = text(stated);
  return value === undefined || !Number.isFinite(Number(value)) ? undefined : Number(value);
}

export const wholeNumber =
  (least: number, most: number): Reader<number> =>
  (stated) => {
    const value = number(stated);
    const isValid = value !== undefined && Number.isSafeInteger(value) && value >= least && value <= most;
    return isValid ? value : undefined;
  };

export const oneOf =
  <Word extends string>(...words: readonly Word[]): Reader<Word> =>
  (stated) =>
    words.find((word) => word === stated);

/** Values that the metadata of items must have, by `meta.` and a JSON Pointer into it, as the API takes them. */
interface MetaFilters {
  readonly [name: `meta.${string}`]: string | undefined;
}

/** Values of metadata that one list can be filtered by. */
const MAX_META = 8;

/** The parser of an address that also states filters of the metadata, which have names of their own. */
export const withMetaFilters =
  <Named>(parse: (search: RawSearch) => Named) =>
  (search: RawSearch): Named & MetaFilters => ({
    ...parse(search),
    ...Object.fromEntries(
      Object.entries(search)
        .filter(([name]) => name.startsWith('meta.'))
        .slice(0, MAX_META)
        .map(([name, stated]) => [name, text(stated)]),
    ),
  });

export const metaFilters = (search: object): readonly (readonly [`meta.${string}`, string])[] =>
  Object.entries(search).flatMap(([name, value]) =>
    name.startsWith('meta.') && typeof value === 'string' ? [[name as `meta.${string}`, value] as const] : [],
  );

/** The same as parameters of the API: the client writes their names as they are. */
export const metaQuery = (search: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    metaFilters(search).map(([name, value]) => [
      `meta.${encodeURIComponent(name.slice('meta.'.length))}`,
      value,
    ]),
  );

/** Changes some parameters of the address of a page; the others, and what is in view, stay. */
export function useChangeSearch<Search extends object>(route: {
  readonly useNavigate: () => (options: never) => Promise<void>;
}): (
  changes: Search,
  /** `replace`: whether going back skips what the address was before. */
  options?: { readonly replace?: boolean },
) => void {
  const navigate = route.useNavigate();
  return (changes, { replace = false } = {}) => {
    const search = (before: Search): Search => ({ ...before, ...changes });
    void navigate({ resetScroll: false, search, replace } as never);
  };
}
