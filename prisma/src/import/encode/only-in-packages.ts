const MAX_PATH_LENGTH = 200;

/** What is wrong with a reference to a file where no files come with the items, as they do in packages. */
export function onlyInPackages(path: string, pointer: string): string {
  const shown = JSON.stringify(path.slice(0, MAX_PATH_LENGTH));
  return `${pointer} must not refer to a file that only a package can hold, got ${shown}`;
}
