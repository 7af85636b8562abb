// Writes the package that the README uploads: node write-a-package.mjs new.pkg.zip
// The same items give the same bytes, whenever and wherever.
import { writeFile } from 'node:fs/promises';
import { datasetFromItems, writePackage } from '@svc/pkg-format';

const africa = { Kenya: 'Nairobi', Senegal: 'Dakar', Egypt: 'Cairo' };
const europe = { France: 'Paris', Portugal: 'Lisbon', Austria: 'Vienna', Estonia: 'Tallinn' };
// what a model that makes mistakes would say: a run can score it without a model
const mistakes = new Map(Object.entries({ Senegal: 'Banjul', Portugal: 'Porto' }));
const shared = { type: 'exact', checker: { type: 'exact_match' }, tags: ['geography'] };
const sections = Object.entries({ africa, europe }).map(([name, capitals]) => {
  const items = Object.entries(capitals).map(([country, answer], index) => {
    const prompt = `What is the capital of ${country}? Answer with its name only.`;
    const meta = { pretend_output: mistakes.get(country) ?? answer };
    return { ...shared, id: `${name.slice(0, 2)}-${index + 1}`, inputs: { prompt }, answer, meta };
  });
  return { name, items };
});
// named in the manifest, as the program that wrote it
const generator = { name: 'write-a-package', version: '1.0.0' };
const bytes = await writePackage(datasetFromItems({ name: 'Capitals', sections }), { generator });
await writeFile(process.argv[2] ?? 'new.pkg.zip', bytes);
