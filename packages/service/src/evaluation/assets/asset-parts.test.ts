import { describe, expect, it } from 'vitest';
import { buildMessages } from '../item/build-messages.ts';
import { type Conversation, conversationOf } from '../item/wire-conversation.ts';
import { judgeQuestion } from '../scoring/judge-question.ts';
import { assetParts } from './asset-parts.ts';
import { markFiles, splitAtMarks } from './marked-files.ts';

const embedded = (mime_type: string, more: object = {}) => ({
  mime_type,
  encoding: 'base64',
  data: 'AAAA',
  ...more,
});
const parsed = ({ conversationJson }: Conversation) => JSON.parse(new TextDecoder().decode(conversationJson));
const ASSETS = {
  photo: embedded('Image/PNG'),
  drawing: embedded('image/svg+xml'),
  voice: embedded('audio/x-wav'),
  song: embedded('audio/mpeg'),
  paper: embedded('application/pdf', { path: 'assets/papers/one.pdf' }),
  video: embedded('video/mp4'),
  remote: { url: 'https://example.org/a.webp' },
  elsewhere: { mime_type: 'audio/wav', url: 'https://example.org/a.wav' },
  script: { mime_type: 'image/png', url: 'javascript:alert(1)' },
  nothing: { path: 'assets/x' },
};

describe('assetParts', () => {
  it('gives chat completions what they have parts for, and names the rest', () => {
    expect(assetParts({ assets: ASSETS }, 'chat_completions')).toEqual({
      parts: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'one.pdf' } },
        { type: 'image_url', image_url: { url: 'https://example.org/a.webp' } },
      ],
      omitted: ['video', 'elsewhere', 'script', 'nothing'],
    });
  });

  it('does the same for Anthropic messages, whose conversation keeps the parts', () => {
    const { parts, omitted } = assetParts({ assets: ASSETS }, 'anthropic_messages');
    expect(parts).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.org/a.webp' } },
    ]);
    expect(omitted).toEqual(['drawing', 'voice', 'song', 'video', 'elsewhere', 'script', 'nothing']);
    const item = { inputs: { prompt: 'look' }, assets: ASSETS };
    const messages = buildMessages(item, undefined, 'anthropic_messages');
    expect(parsed(conversationOf(messages, 'anthropic_messages'))).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, ...parts] }],
    });
  });

  it('names entries of a list by their index, and shows the judge the same parts', () => {
    const item = { assets: [embedded('video/mp4'), embedded('image/gif')], inputs: { prompt: 'p' } };
    const { parts, omitted } = assetParts(item, 'chat_completions');
    expect(omitted).toEqual(['0']);
    const asked = judgeQuestion({ output: 'o', item, options: {} }, null);
    expect(asked.omittedAssets).toEqual(['0']);
    const [, question] = parsed(asked).messages;
    expect(question?.content).toEqual([{ type: 'text', text: expect.stringContaining('Task') }, ...parts]);
  });
});

describe('markFiles', () => {
  const file = (pointer: string, start: number, end: number) => ({
    ...{ pointer, start, end, sha256: 'ab'.repeat(32), byteLength: 3 },
    before: '{"data":"',
    after: '","encoding":"base64"}',
  });
  const parts = {
    payload: '{"id":1}',
    answer: null,
    assets: '[{"sha256":"x"},1,{"sha256":"y"}]',
    checker: '{"c":1}',
  };
  const files = [file('/assets/0', 1, 15), file('/assets/2', 18, 32), file('/checker', 0, 7)];
  const read = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('abc');
  };

  it('puts a mark in place of each content, which no item can have known', () => {
    const marked = markFiles(parts, files, read);
    const mark = marked.files?.mark ?? '';
    expect(marked.parts).toEqual({
      payload: '{"id":1}',
      answer: null,
      assets: `[{"data":"${mark}0z","encoding":"base64"},1,{"data":"${mark}1z","encoding":"base64"}]`,
      checker: `{"data":"${mark}2z","encoding":"base64"}`,
    });
    expect(mark).toMatch(/^file[0-9a-f]{32}n$/);
    expect(markFiles(parts, files, read).files?.mark).not.toBe(mark);
    expect(splitAtMarks(`x ${mark}1z y${mark}0z`, { mark, files, read })).toEqual([
      'x ',
      files[1],
      ' y',
      files[0],
      '',
    ]);
    expect(() => splitAtMarks(`${mark}9z`, { mark, files, read })).toThrow('A mark has no file.');
    expect(markFiles(parts, [], read)).toEqual({ parts, files: undefined });
  });
});
