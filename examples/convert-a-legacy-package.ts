// Turns an archive of an older shape into a package, and tells what it changed.
import { convertLegacyFile, legacyOutputPath } from '@svc/pkg-format/node';

const input = process.argv[2] ?? 'old.zip';
const output = legacyOutputPath(input);
const report = await convertLegacyFile(input, { output, force: true });
console.log(output, report);
