// Writes the package that the README uploads: node write-a-package.ts > capitals.pkg.zip
// The same items give the same bytes, whenever and wherever.
import { datasetFromItems, writePackage } from '@svc/pkg-format';

const africa = { Kenya: 'Nairobi', Senegal: 'Dakar', Egypt: 'Cairo' };
const europe = { France: 'Paris', Portugal: 'Lisbon', Austria: 'Vienna', Estonia: 'Tallinn' };
const shared = { type: 'exact', checker: { type: 'exact_match' }, tags: ['geography'] };
const sections = Object.entries({ africa, europe }).map(([name, capitals]) => {
  const items = Object.entries(capitals).map(([country, answer], index) => {
    const prompt = `What is the capital of ${country}? Answer with its name only.`;
    return { ...shared, id: `${name.slice(0, 2)}-${index + 1}`, inputs: { prompt }, answer };
  });
  return { name, items };
});
const description = 'Capitals of a few countries, to try things on.';
const dataset = datasetFromItems({ name: 'Capitals', description, sections });
process.stdout.write(await writePackage(dataset));
