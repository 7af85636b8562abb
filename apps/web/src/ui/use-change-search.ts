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
