/** Parses one YAML text on a thread of its own; see parse-yaml-apart.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { HubError } from './errors.ts';
import { parseYaml, type YamlPlace, type YamlValue } from './parse-yaml.ts';

/** What the thread answers with: a value, or the parts of a HubError. */
export type YamlAnswer = { value: YamlValue } | { refused: { message: string; place: HubError['place'] } };

const { text, place } = workerData as { text: string; place: YamlPlace };
let answer: YamlAnswer;
try {
  answer = { value: parseYaml(text, place) };
} catch (error) {
  if (!(error instanceof HubError)) throw error;
  answer = { refused: { message: error.message, place: error.place } };
}
parentPort!.postMessage(answer);
