import { stripTypeScriptTypes } from 'node:module';

/** A program as one of the older module system: what it imports it requires, and it waits inside a function. */
export function toCommonJs(program: string): string {
  const required = stripTypeScriptTypes(program).replaceAll(
    /^import (?:(\w+)|\{([^}]*)\}) from ('[^']+');$/gm,
    (_statement, name: string | undefined, names: string, from: string) => {
      const bound = name ?? `{ ${names.replaceAll(/(\w+) as (\w+)/g, '$1: $2')} }`;
      return `const ${bound} = require(${from});`;
    },
  );
  if (/^import /m.test(required)) throw new Error(`Cannot convert the imports of:\n${required}`);
  return `(async () => {\n${required}\n})();\n`;
}
