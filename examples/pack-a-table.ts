// Makes a package of a table (CSV, JSON Lines, Parquet and more): node pack-a-table.ts questions.csv questions.pkg.zip
import { openAsBlob } from 'node:fs';
import { compileMapping } from '@svc/jsonl-v23/mapping';
import { writePackageFile } from '@svc/pkg-format/node';
import { detectFormat, dtypeOf, openByteSource, openFileTable } from '@svc/tabular';

const [input = 'questions.csv', output = 'questions.pkg.zip'] = process.argv.slice(2);
const source = await openByteSource(await openAsBlob(input), { path: input });
const table = await openFileTable(source, await detectFormat(source));
const features = table.features.map(({ name, feature }) => ({ name, dtype: dtypeOf(feature) }));
const toItem = compileMapping({ promptColumn: 'question', answerColumn: 'answer' }, features);
async function* items() {
  for await (const { firstRow, rows } of table.read()) yield* rows.map((row, i) => toItem(row, firstRow + i));
}
const written = await writePackageFile(output, {
  name: 'Questions',
  sections: [{ name: 'default', items: items() }],
});
console.log(written.itemCount, written.versionHash);
