import type { Mapping } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { ImportHubOptions } from './import-hub.ts';

/** What an import from the hub is asked for, apart from how it is carried out. */
export type ImportRequest = Pick<
  ImportHubOptions,
  'name' | 'description' | 'config' | 'token' | 'mapping' | 'mappingAsSent'
>;

/**
 * An import as its request body asks for it (http-api section 2); null stands for absent.
 *
 * @param body one that has passed the schema of the endpoint, or what {@link importRequestToJson} wrote
 */
export function toImportRequest(body: JsonObject): ImportRequest {
  const mapping = objectOf(body, 'mapping');
  const { token, ...config } = toHubSource(objectOf(body, 'config'));
  return {
    name: String(getMember(body, 'name')),
    description: stringOf(body, 'description') ?? null,
    config,
    token,
    mapping: toMapping(mapping),
    mappingAsSent: mapping,
  };
}

/** The request again, to be kept until it is carried out. The token is not in it. */
export function importRequestToJson({ name, description, config, mappingAsSent }: ImportRequest): JsonObject {
  const { path, split, subset, revision } = config;
  return {
    name,
    description,
    config: { path, split: split ?? null, subset: subset ?? null, revision: revision ?? null },
    mapping: mappingAsSent,
  };
}

/** Which rows of the hub are meant, and the token they are read with. */
export type HubSource = ImportHubOptions['config'] & { readonly token: string | undefined };

/** The members of a request body that name a hub dataset. */
export function toHubSource(object: JsonObject): HubSource {
  return {
    path: String(getMember(object, 'path')),
    split: stringOf(object, 'split'),
    subset: stringOf(object, 'subset'),
    revision: stringOf(object, 'revision'),
    token: stringOf(object, 'token'),
  };
}

function toMapping(mapping: JsonObject): Mapping {
  const columns = {
    answerColumn: stringOf(mapping, 'answer_column'),
    defaultType: stringOf(mapping, 'default_type'),
    metaColumns: stringsOf(mapping, 'meta_columns') ?? columnsByKey(mapping, 'meta_columns'),
    criteriaColumns: stringsOf(mapping, 'criteria_columns'),
    choicesColumn: stringOf(mapping, 'choices_column'),
    assetsColumn: stringOf(mapping, 'assets_column'),
    systemPromptColumn: stringOf(mapping, 'system_prompt_column'),
    idColumn: stringOf(mapping, 'id_column'),
  };
  const defined = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  return { promptColumn: String(getMember(mapping, 'prompt_column')), ...defined };
}

function stringOf(object: JsonObject, key: string): string | undefined {
  const value = getMember(object, key);
  return typeof value === 'string' ? value : undefined;
}

function stringsOf(object: JsonObject, key: string): string[] | undefined {
  const value = getMember(object, key);
  return Array.isArray(value) ? value.map(String) : undefined;
}

function columnsByKey(object: JsonObject, key: string): Record<string, string> | undefined {
  const value = getMember(object, key);
  if (!isJsonObject(value ?? null)) return undefined;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, column]): [string, string] => [name, String(column)]),
  );
}

function objectOf(object: JsonObject, key: string): JsonObject {
  const value = getMember(object, key);
  return isJsonObject(value) ? value : {};
}
