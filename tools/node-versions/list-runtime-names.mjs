// Prints what this Node has by name, as JSON: its globals with their static members, and the exports of its modules.
// Plain JavaScript, because old versions run it too.
import { builtinModules } from 'node:module';

const names = {};
for (const name of Object.getOwnPropertyNames(globalThis)) {
  names[name] = [];
  const value = name === 'localStorage' || name === 'sessionStorage' ? undefined : globalThis[name];
  const hasMembers = typeof value === 'function' || (typeof value === 'object' && value !== null);
  if (hasMembers && value !== globalThis) names[name] = Object.getOwnPropertyNames(value);
}
// Some modules exist only with the prefix.
const prefixed = ['node:sea', 'node:sqlite', 'node:test', 'node:test/reporters'];
for (const module of [...builtinModules.map((name) => `node:${name.replace('node:', '')}`), ...prefixed]) {
  if (module.startsWith('node:_')) continue;
  const found = await import(module).catch(() => undefined);
  if (found !== undefined) names[module] = Object.keys(found);
}
console.log(JSON.stringify(names));
