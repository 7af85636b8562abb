// Makes a package of a table (CSV, JSON Lines, Parquet and more): node pack-a-table.mjs questions.csv questions.pkg.zip
import { openAsBlob } from 'node:fs';
import { compileMapping } from '@svc/jsonl-v23/mapping';
import { writePackageFile } from '@svc/pkg-format/node';
import { readTable } from '@svc/tabular';

const [input = 'questions.csv', output = 'questions.pkg.zip'] = process.argv.slice(2);
const features = ['question', 'answer'].map((name) => ({ name, dtype: 'string' }));
const toItem = compileMapping({ promptColumn: 'question', answerColumn: 'answer' }, features);
async function* items() {
  let index = 0;
  for await (const row of readTable(await openAsBlob(input), { path: input })) yield toItem(row, index++);
}
const sections = [{ name: 's', items: items() }];
const { versionHash } = await writePackageFile(output, { name: 'Q', sections });
console.log(versionHash);
