// Prints the changes of one version from the changelogs, for the release page:  node tools/release-notes.mjs 0.2.0
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [version] = process.argv.slice(2);
if (version === undefined) {
  console.error('usage: node tools/release-notes.mjs <version>');
  process.exit(2);
}

/** The part of a changelog under the heading of a version, without updated dependencies of the workspace. */
function notesOf(changelog) {
  const start = changelog.indexOf(`\n## ${version}\n`);
  if (start === -1) return '';
  const body = changelog.slice(start + `\n## ${version}\n`.length).split(/^## /m)[0] ?? '';
  return body
    .replaceAll(/^- Updated dependencies.*\n(?: {2}- .*\n)*/gm, '')
    .replaceAll(/^(?: {2})?- (?:@svc\/)?[\w-]+@\S+\n/gm, '')
    .replaceAll(/^No changes in this release\.$/gm, '')
    .replaceAll(/^### .*\n+(?=### |$(?![\s\S]))/gm, '')
    .replaceAll(/^### /gm, '#### ')
    .trim();
}

/** The notes with their packages: a change of several packages is in each changelog. */
const owners = new Map();
for (const folder of ['packages', 'apps']) {
  for (const name of readdirSync(join(root, folder))) {
    const manifest = join(root, folder, name, 'package.json');
    const file = join(root, folder, name, 'CHANGELOG.md');
    const notes = existsSync(file) ? notesOf(readFileSync(file, 'utf8')) : '';
    if (notes !== '')
      owners.set(notes, [...(owners.get(notes) ?? []), JSON.parse(readFileSync(manifest, 'utf8')).name]);
  }
}
if (owners.size === 0) {
  console.error(`no changelog has a version ${version}`);
  process.exit(1);
}
console.log([...owners].map(([notes, names]) => `### ${names.join(', ')}\n\n${notes}`).join('\n\n'));
