// Prints the changes of some releases from the changelogs, for the release page:
//
//   node tools/release-notes.mjs @svc/pkg-format@0.2.0 @svc/tabular@0.1.1
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const releases = process.argv.slice(2);
if (releases.length === 0) {
  console.error('usage: node tools/release-notes.mjs <name>@<version> ...');
  process.exit(2);
}

/** The part of a changelog under the heading of a version, without updated dependencies of the workspace. */
function notesOf(changelog, version) {
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
    if (!existsSync(file)) continue;
    const { name: owner, version } = JSON.parse(readFileSync(manifest, 'utf8'));
    const release = `${owner}@${version}`;
    const notes = releases.includes(release) ? notesOf(readFileSync(file, 'utf8'), version) : '';
    if (notes !== '') owners.set(notes, [...(owners.get(notes) ?? []), release]);
  }
}
if (owners.size === 0) {
  console.error(`no changelog has a change of ${releases.join(', ')}`);
  process.exit(1);
}
console.log([...owners].map(([notes, names]) => `### ${names.join(', ')}\n\n${notes}`).join('\n\n'));
