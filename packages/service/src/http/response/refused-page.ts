import { parseAuthority } from '../../config/authority.ts';

/**
 * The page for a browser whose address the service does not respond to: it says what the operator sets.
 *
 * @param host the `Host` header as it came
 * @param detail why the request was refused
 */
export function refusedPage(host: string, detail: string): string {
  const name = parseAuthority(host, 'http')?.name ?? '';
  const setting = `SVC_ALLOWED_HOSTS=${name === '' ? 'name' : name}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unknown host name</title></head>
<body>
<main>
<h1>This service does not respond to this host name</h1>
<p>${escaped(detail)}</p>
<p>To open the console at this address, set <code>${escaped(setting)}</code> in the environment of the service and restart it.
On the machine of the service, and through a forwarded port, <code>http://localhost</code> with the port works without it.</p>
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (found) => ENTITIES[found] ?? '');
