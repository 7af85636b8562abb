// Turns rows of any table into items, one canonical line each.
import { writeItems } from '@svc/jsonl-v23';
import { compileMapping } from '@svc/jsonl-v23/mapping';

const rows = [
  { question: 'Capital of Kenya?', options: ['Nairobi', 'Mombasa'], solution: 'Nairobi', level: 1 },
  { question: 'Capital of Egypt?', options: ['Luxor', 'Cairo'], solution: 'Cairo', level: 2 },
];
const features = ['question', 'options', 'solution', 'level'].map((name) => ({ name, dtype: 'json' }));
const mapping = { promptColumn: 'question', answerColumn: 'solution', choicesColumn: 'options' };
const toItem = compileMapping({ ...mapping, metaColumns: ['level'] }, features, { split: 'train' });

const items = rows.map((row, index) => toItem(row, index));
for await (const line of writeItems(items)) process.stdout.write(line);
