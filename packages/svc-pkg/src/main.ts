#!/usr/bin/env node
// Nothing is imported before the version is known: older versions cannot load the rest.
const REQUIRED = { major: 20, minor: 19 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > REQUIRED.major || (major === REQUIRED.major && minor >= REQUIRED.minor)) {
  import('./run-process.js').then(({ runProcess }) => runProcess(process, null));
} else {
  const required = `${REQUIRED.major}.${REQUIRED.minor}`;
  process.stderr.write(`svc-pkg needs Node ${required} or newer, this is ${process.versions.node}.\n`);
  process.exitCode = 1;
}
