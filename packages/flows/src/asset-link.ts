/** What makes the link to a file of an item. @param version of the dataset that links name; undefined for none */
export function linkOf(
  datasetId: string,
  version: number | undefined,
): (file: { readonly sha256: string }) => string {
  const query = version === undefined ? '' : `?version=${version}`;
  return ({ sha256 }) => `/datasets/${datasetId}/assets/${sha256}${query}`;
}
