/** More streams than this did not get faster. */
const MAX_STREAMS = 4;
/** Cores of which one is left for another stream where the database has the same ones. */
const CORES_PER_LOCAL_STREAM = 4;

const LOCAL_HOST = /^(?:|localhost|127(?:\.\d{1,3}){3}|\[::1\]|%2f.*)$/i;

/**
 * Over how many connections a large import copies its rows, where that is not configured. One connection keeps one core of
 * the database busy, and several help as far as there are more cores: where the database has its own, one for each core of
 * this machine, which encode the rows; where it shares them with the service, one for every four.
 *
 * @param databaseUrl undefined for the embedded database
 * @param cores of this machine
 */
export function importStreamsFor(databaseUrl: string | undefined, cores: number): number {
  const url = databaseUrl === undefined ? null : URL.parse(databaseUrl);
  const isRemote =
    url !== null && !LOCAL_HOST.test(url.hostname) && !(url.searchParams.get('host') ?? '').startsWith('/');
  const wanted = isRemote ? cores : Math.floor(cores / CORES_PER_LOCAL_STREAM);
  return Math.min(MAX_STREAMS, Math.max(1, wanted));
}
