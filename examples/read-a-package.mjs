// Lists the sections of a package and computes its version hash.
import { createSectionHasher, itemHash, versionHash } from '@svc/jsonl-v23';
import { readPackageItems } from '@svc/pkg-format';
import { openPackageFile } from '@svc/pkg-format/node';

const pkg = await openPackageFile(process.argv[2] ?? 'capitals.pkg.zip');
const hashers = pkg.sections.map(({ name }) => createSectionHasher(name));
for (const section of pkg.sections) {
  for await (const { item, location } of readPackageItems(pkg, section)) {
    hashers[section.orderIndex]?.add(itemHash(item));
    console.log(section.name, location.line, item['answer']);
  }
}
console.log(versionHash(hashers.map((hasher) => hasher.digest())));
await pkg.close();
