/**
 * Writes the conformance corpus to conformance/pkg: `npm run conformance`. To add a case,
 * add it to conformance-cases.ts and run this.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { archiveOf, INVALID, VALID } from './conformance-cases.ts';
import { CORPUS, caseList } from './conformance-corpus.ts';

for (const [folder, cases] of [
  ['valid', VALID],
  ['invalid', INVALID],
] as const) {
  const to = new URL(`${folder}/`, CORPUS);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const one of cases) writeFileSync(new URL(`${one.name}.zip`, to), archiveOf(one));
}
writeFileSync(new URL('cases.json', CORPUS), `${JSON.stringify(caseList(), null, 2)}\n`);
