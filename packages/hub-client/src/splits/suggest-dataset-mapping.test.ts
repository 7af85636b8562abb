import { compileMapping, type MappableFeature, type Mapping } from '@svc/jsonl-v23/mapping';
import { describe, expect, it } from 'vitest';
import type { YamlValue } from '../repository/metadata.ts';
import { parseYaml } from '../repository/parse-yaml.ts';
import { suggestDatasetMapping } from './suggest-dataset-mapping.ts';

const columns = (text: string): MappableFeature[] =>
  text.split('; ').map((column) => {
    const at = column.indexOf(': ');
    return { name: column.slice(0, at), dtype: column.slice(at + 2) };
  });

function parsed(yaml: string): YamlValue {
  try {
    return parseYaml(yaml, { file: 'eval.yaml' });
  } catch {
    return null;
  }
}

describe('suggestDatasetMapping by names', () => {
  it.each<[string, Mapping | null]>([
    ['question: string; answer: string', { promptColumn: 'question', answerColumn: 'answer' }],
    [
      'id: int64; Question: string; Answer: large_string',
      { promptColumn: 'Question', answerColumn: 'Answer', idColumn: 'id' },
    ],
    [
      'id: string; question: string; choices: struct<text: list<string>, label: list<string>>; answerKey: string',
      {
        promptColumn: 'question',
        answerColumn: 'answerKey',
        choicesColumn: 'choices',
        defaultType: 'multiple_choice',
        idColumn: 'id',
      },
    ],
    [
      'question: string; subject: string; choices: list<string>; answer: int64',
      {
        promptColumn: 'question',
        answerColumn: 'answer',
        choicesColumn: 'choices',
        defaultType: 'multiple_choice',
        metaColumns: { subject: 'subject' },
      },
    ],
    [
      'messages: list<struct<role: string, content: string>>; label: int64',
      { promptColumn: 'messages', answerColumn: 'label' },
    ],
    [
      'instruction: string; input: string; output: string',
      { promptColumn: 'instruction', answerColumn: 'output' },
    ],
    ['text: string; label: int64', { promptColumn: 'text', answerColumn: 'label' }],
    [
      'image: image; question: string; answer: string',
      { promptColumn: 'question', answerColumn: 'answer', assetsColumn: 'image' },
    ],
    [
      'system: string; prompt: string; rubric: list<string>',
      { promptColumn: 'prompt', systemPromptColumn: 'system', criteriaColumns: ['rubric'] },
    ],
    [
      'problem: string; solution: string; answer: string; level: string',
      { promptColumn: 'problem', answerColumn: 'answer', metaColumns: { level: 'level' } },
    ],
    ['body: string; n: int64', { promptColumn: 'body' }],
    ['a: string; b: string', null],
    ['question: int64; x: image', null],
    ['image: image', null],
  ])('%s', (text, mapping) => {
    const features = columns(text);
    expect(suggestDatasetMapping(features)).toEqual(mapping);
    if (mapping !== null) expect(() => compileMapping(mapping, features)).not.toThrow();
  });

  it('suggests nothing for no columns', () => {
    expect(suggestDatasetMapping([])).toBeNull();
  });
});

describe('suggestDatasetMapping by eval.yaml', () => {
  const features = columns(
    'q: string; a: string; opts: list<string>; uid: string; topic: string; wrong: string; question: string',
  );
  const task = (spec: string, rest = ''): string =>
    `name: X\ntasks:\n- id: t\n${rest}  field_spec: ${spec}\n`;

  it.each<[string, Mapping]>([
    [task('{input: q, target: a}'), { promptColumn: 'q', answerColumn: 'a' }],
    [
      task('{input: q, target: a, choices: opts, metadata: [topic, missing], id: uid}'),
      {
        promptColumn: 'q',
        answerColumn: 'a',
        choicesColumn: 'opts',
        defaultType: 'multiple_choice',
        idColumn: 'uid',
        metaColumns: { topic: 'topic' },
      },
    ],
    [
      task('{input: q, target: "literal:A", choices: [a, wrong]}'),
      { promptColumn: 'q', defaultType: 'multiple_choice', metaColumns: { a: 'a', wrong: 'wrong' } },
    ],
  ])('%s', (yaml, mapping) => {
    expect(suggestDatasetMapping(features, parsed(yaml))).toEqual(mapping);
  });

  it('takes the task of the subset and the split', () => {
    const yaml =
      'tasks:\n- {config: one, split: test, field_spec: {input: q}}\n- {config: two, split: test, field_spec: {input: a}}\n- {config: two, split: dev, field_spec: {input: wrong}}';
    expect(suggestDatasetMapping(features, parsed(yaml), { subset: 'two', split: 'dev' })?.promptColumn).toBe(
      'wrong',
    );
    expect(
      suggestDatasetMapping(features, parsed(yaml), { subset: 'two', split: 'test' })?.promptColumn,
    ).toBe('a');
    expect(suggestDatasetMapping(features, parsed(yaml), { subset: 'none' })?.promptColumn).toBe('q');
  });

  it.each([
    '',
    'tasks: 5',
    'tasks: [',
    '- x',
    task('{input: nothing}'),
    'tasks:\n- {id: hle, config: default, split: test}',
  ])('falls back to names for %j', (yaml) => {
    expect(suggestDatasetMapping(features, parsed(yaml))?.promptColumn).toBe('question');
  });
});
