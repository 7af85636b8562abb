// Turns an archive of an older shape into a package, and tells what it changed: node convert-a-legacy-package.mjs old.zip
import { convertLegacyFile, legacyOutputPath } from '@svc/pkg-format/node';

const [input] = process.argv.slice(2);
if (input === undefined) {
  console.error('usage: node convert-a-legacy-package.mjs <archive>');
  process.exit(2);
}
const output = legacyOutputPath(input);
const report = await convertLegacyFile(input, { output, force: true });
console.log(output, report);
