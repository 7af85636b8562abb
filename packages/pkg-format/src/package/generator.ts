import type { JsonObject } from '@svc/jsonl-v23/json';
import { VERSION } from '../version.ts';

/** The program that writes a package, as its manifest names it. */
export interface PackageGenerator {
  readonly name: string;
  readonly version: string;
}

/** What a manifest says of the program that wrote it; by default, that is this library. */
export function generatorMembers(
  { name, version }: PackageGenerator = { name: '@svc/pkg-format', version: VERSION },
): JsonObject {
  return { generator: name, generator_version: version };
}
