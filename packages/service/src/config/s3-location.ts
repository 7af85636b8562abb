const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** The characters that S3 calls safe. */
const PREFIX = /^[\w!.*'()/-]{0,512}$/;
const REGION = /^[a-z0-9-]{1,64}$/;

/**
 * Parses `s3://bucket/prefix`, which may be followed by `?endpoint=https://host:port` and `&region=name`.
 *
 * @throws Error that says what is wrong; it never repeats the text, which may hold a password
 */
export function parseS3Location(text: string) {
  const url = URL.parse(text);
  if (url?.protocol !== 's3:') throw new Error('must be a URL such as s3://bucket/prefix');
  if (url.username !== '' || url.password !== '' || url.port !== '' || url.hash !== '') {
    throw new Error('must have a bucket, a prefix, and no user, port or fragment');
  }
  if (!BUCKET.test(url.hostname))
    throw new Error('must name a bucket of 3 to 63 characters of a-z, 0-9, . and -');
  const folder = url.pathname.replace(/^\//, '');
  if (!PREFIX.test(folder)) throw new Error("must have a prefix of letters, digits and !-_.*'()/ only");
  const unknown = [...url.searchParams.keys()].find((key) => key !== 'endpoint' && key !== 'region');
  if (unknown !== undefined) throw new Error('may have the parameters endpoint and region only');
  return {
    bucket: url.hostname,
    /** Empty, or a text that ends with a slash. */
    prefix: folder === '' || folder.endsWith('/') ? folder : `${folder}/`,
    /** Of a server other than Amazon's; null for the one that the SDK finds in its own variables. */
    endpoint: endpointOf(url.searchParams.get('endpoint')),
    region: regionOf(url.searchParams.get('region')),
  };
}

function endpointOf(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new Error('must have an endpoint that is an http or https URL without user information');
  }
  return text;
}

function regionOf(text: string | null): string | null {
  if (text === null || REGION.test(text)) return text;
  throw new Error('must have a region of letters, digits and hyphens');
}
