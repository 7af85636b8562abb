/** Parses one YAML text on a thread; see parse-yaml-apart.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { HubError } from '../errors.ts';
import type { YamlLocation, YamlValue } from './metadata.ts';
import { parseYaml } from './parse-yaml.ts';

/** What the thread answers with: a value, or the parts of a HubError. */
export type YamlReply =
  | { value: YamlValue }
  | { refused: { message: string; location: HubError['location'] } };

const { text, location } = workerData as { text: string; location: YamlLocation };
let answer: YamlReply;
try {
  answer = { value: parseYaml(text, location) };
} catch (error) {
  if (!(error instanceof HubError)) throw error;
  answer = { refused: { message: error.message, location: error.location } };
}
parentPort?.postMessage(answer);
