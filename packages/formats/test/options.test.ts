import { expect, it } from 'vitest';
import { convertTool, writeTool } from '../src/index.ts';

it('refuses options that it does not know', async () => {
  const options = { output: '/nowhere', forse: true } as { output: string };
  await expect(convertTool('promptfoo', [], options)).rejects.toThrow(
    /^"forse" is not an option of convertTool: these are output, name, /,
  );
  await expect(writeTool('promptfoo', {} as never, { modell: 'm' } as object)).rejects.toThrow(
    '"modell" is not an option of writeTool: these are model.',
  );
});
