/** Helpers for the service's other packages. They may change in any release. */

export { type DatasetRef, hubSchema } from './client/hub-schema.ts';
export { withoutCredentials } from './repository/parse-dataset-path.ts';
export { parseYamlApart } from './repository/parse-yaml-apart.ts';
