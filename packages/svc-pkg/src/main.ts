#!/usr/bin/env node
// Nothing is imported before the version is known: older versions cannot load the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
// `engines` in package.json.
if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) {
  import('./run-process.js').then(({ runProcess }) => runProcess(process, null));
} else {
  process.stderr.write(`svc-pkg needs Node 20.19, 22.12 or newer, this is ${process.versions.node}.\n`);
  process.exitCode = 1;
}
