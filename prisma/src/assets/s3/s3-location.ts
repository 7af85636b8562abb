/** Where objects are kept: a bucket, and how their keys begin. */
export interface S3Location {
  readonly bucket: string;
  /** Empty, or a text that ends with a slash. */
  readonly prefix: string;
  /** Endpoint of a server other than Amazon's; null for the one that the SDK finds in its own variables. */
  readonly endpoint: string | null;
  readonly region: string | null;
}
