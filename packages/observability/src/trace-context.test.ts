import { expect, it } from 'vitest';
import { parseTraceparent } from './http/observe-request.ts';

const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
const span_id = '00f067aa0ba902b7';

it.each([
  [`00-${trace_id}-${span_id}-01`, true],
  [`cc-${trace_id}-${span_id}-01-more`, true],
  [`00-${trace_id}-${span_id}-01-more`, false],
  [`ff-${trace_id}-${span_id}-01`, false],
  [`00-${trace_id.toUpperCase()}-${span_id}-01`, false],
  [`00-${'0'.repeat(32)}-${span_id}-01`, false],
  [`00-${trace_id}-${'0'.repeat(16)}-01`, false],
  [`00-${trace_id}-${span_id}-01, 00-${trace_id}-${span_id}-01`, false],
  [`cc-${trace_id}-${span_id}-01-${'x'.repeat(500)}`, false],
  ['', false],
  [undefined, false],
])('reads %j: %s', (header, isValid) => {
  expect(parseTraceparent(header)).toEqual(isValid ? { trace_id, span_id } : undefined);
});
