import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../test/arbitrary-json.ts';
import { JsonlError } from '../errors.ts';
import { ExactNumber, type JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseItem } from './parse-item.ts';

describe('parseItem', () => {
  it.each([
    '{}',
    '{"id":"a"}',
    '{"id":""}',
    '{"id":7}',
    '{"id":-7}',
    '{"id":1.0}',
    '{"id":1e21}',
    '{"id":12345678901234567890}',
    '{"id":1e400}',
    '{"type":"anything"}',
    '{"inputs":{}}',
    '{"inputs":{"prompt":""}}',
    '{"inputs":{"messages":[]}}',
    '{"inputs":{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"more":1}]}}',
    '{"inputs":{"messages":[{"role":"user","content":[{"type":"text"}]}]}}',
    '{"inputs":{"system_prompt":null,"choices":[1,"b",null,{}],"other":[]}}',
    '{"answer":null}',
    '{"answer":{"any":["json",9007199254740993]}}',
    '{"criteria":[]}',
    '{"criteria":["a",{"b":1}]}',
    '{"checker":null}',
    '{"checker":"exact_match"}',
    '{"checker":{"type":"x","path":"elsewhere","data":5,"encoding":"utf-8"}}',
    '{"checker":{"path":"checkers/a.py"}}',
    '{"checker":{"path":"checkers/a.py","encoding":"base64","data":"YQ=="}}',
    '{"assets":{}}',
    '{"assets":[]}',
    '{"meta":{"judge_prompt":null,"n":12345678901234567890}}',
    '{"tags":[]}',
    '{"tags":["a","a"]}',
    '{"other":{"id":[],"type":5},"__proto__":{"id":[]},"constructor":1,"toString":2,"":3}',
  ])('accepts %s as it is', (line) => {
    const value = parseJson(line);
    expect(parseItem(value)).toBe(value);
  });

  it.each<[line: string, path: string, message: string]>([
    ['{"id":1.5}', '/id', '/id must be a string or an integer, got the number 1.5'],
    [
      '{"id":0.12345678901234567890123}',
      '/id',
      '/id must be a string or an integer, got the number 0.12345678901234567890123',
    ],
    ['{"id":null}', '/id', '/id must be a string or an integer, got null'],
    ['{"id":true}', '/id', '/id must be a string or an integer, got true'],
    ['{"id":[]}', '/id', '/id must be a string or an integer, got an array'],
    ['{"type":null}', '/type', '/type must be a string, got null'],
    ['{"type":12345678901234567890}', '/type', '/type must be a string, got the number 12345678901234567890'],
    ['{"inputs":"text"}', '/inputs', '/inputs must be an object, got the string "text"'],
    ['{"inputs":[]}', '/inputs', '/inputs must be an object, got an array'],
    [
      '{"inputs":12345678901234567890}',
      '/inputs',
      '/inputs must be an object, got the number 12345678901234567890',
    ],
    ['{"inputs":{"prompt":5}}', '/inputs/prompt', '/inputs/prompt must be a string, got the number 5'],
    ['{"inputs":{"prompt":null}}', '/inputs/prompt', '/inputs/prompt must be a string, got null'],
    ['{"inputs":{"messages":{}}}', '/inputs/messages', '/inputs/messages must be an array, got an object'],
    [
      '{"inputs":{"messages":["hi"]}}',
      '/inputs/messages/0',
      '/inputs/messages/0 must be an object, got the string "hi"',
    ],
    [
      '{"inputs":{"messages":[{"role":"user"}]}}',
      '/inputs/messages/0',
      '/inputs/messages/0 must have the key "content"',
    ],
    [
      '{"inputs":{"messages":[{"content":"x"}]}}',
      '/inputs/messages/0',
      '/inputs/messages/0 must have the key "role"',
    ],
    [
      '{"inputs":{"messages":[{"role":1,"content":"x"}]}}',
      '/inputs/messages/0/role',
      '/inputs/messages/0/role must be a string, got the number 1',
    ],
    [
      '{"inputs":{"messages":[9007199254740993]}}',
      '/inputs/messages/0',
      '/inputs/messages/0 must be an object, got the number 9007199254740993',
    ],
    [
      '{"inputs":{"system_prompt":1}}',
      '/inputs/system_prompt',
      '/inputs/system_prompt must be a string or null, got the number 1',
    ],
    ['{"inputs":{"choices":"a"}}', '/inputs/choices', '/inputs/choices must be an array, got the string "a"'],
    ['{"criteria":"a"}', '/criteria', '/criteria must be an array, got the string "a"'],
    ['{"criteria":["a",1]}', '/criteria/1', '/criteria/1 must be a string or an object, got the number 1'],
    ['{"criteria":["a",[]]}', '/criteria/1', '/criteria/1 must be a string or an object, got an array'],
    [
      '{"criteria":["a",9007199254740993]}',
      '/criteria/1',
      '/criteria/1 must be a string or an object, got the number 9007199254740993',
    ],
    ['{"checker":1}', '/checker', '/checker must be an object, a string or null, got the number 1'],
    [
      '{"checker":9007199254740993}',
      '/checker',
      '/checker must be an object, a string or null, got the number 9007199254740993',
    ],
    ['{"checker":[]}', '/checker', '/checker must be an object, a string or null, got an array'],
    ['{"assets":null}', '/assets', '/assets must be an object or an array, got null'],
    [
      '{"assets":"assets/a.png"}',
      '/assets',
      '/assets must be an object or an array, got the string "assets/a.png"',
    ],
    [
      '{"assets":9007199254740993}',
      '/assets',
      '/assets must be an object or an array, got the number 9007199254740993',
    ],
    ['{"meta":[]}', '/meta', '/meta must be an object, got an array'],
    ['{"meta":null}', '/meta', '/meta must be an object, got null'],
    [
      '{"meta":{"judge_prompt":["x"]}}',
      '/meta/judge_prompt',
      '/meta/judge_prompt must be a string or null, got an array',
    ],
    ['{"tags":["a",null]}', '/tags/1', '/tags/1 must be a string, got null'],
    ['{"tags":"a"}', '/tags', '/tags must be an array, got the string "a"'],
  ])('refuses %s', (line, path, message) => {
    const error = thrownBy(() => parseItem(parseJson(line), { file: 'a.jsonl', line: 3 }));
    expect(error).toBeInstanceOf(JsonlError);
    expect(error).toMatchObject({
      code: 'invalid_item',
      message,
      location: { file: 'a.jsonl', line: 3, path },
    });
  });

  it.each<[JsonValue, string]>([
    [null, 'An item must be an object, got null'],
    [[], 'An item must be an object, got an array'],
    ['x'.repeat(1000), `An item must be an object, got the string "${'x'.repeat(100)}"... (1000 characters)`],
    [1, 'An item must be an object, got the number 1'],
    [new ExactNumber('9007199254740993'), 'An item must be an object, got the number 9007199254740993'],
  ])('refuses a value that is not an object', (value, message) => {
    const error = thrownBy(() => parseItem(value, { line: 9 }));
    expect(error).toMatchObject({ code: 'not_an_object', message, location: { line: 9 } });
  });

  it('does not change its argument', () => {
    const value = parseJson(
      '{"assets":{"a":{"content_type":"image/png","data":""}},"checker":{"path":"checkers/a","data":""}}',
    );
    const before = JSON.stringify(value);
    expect(parseItem(value)).toEqual({
      assets: { a: { mime_type: 'image/png', data: '', encoding: 'base64' } },
      checker: { path: 'checkers/a', data: '', encoding: 'base64' },
    });
    expect(JSON.stringify(value)).toBe(before);
  });
});
