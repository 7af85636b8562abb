import { BlockList, isIP } from 'node:net';

/** Addresses that no public host has: RFC 6890 and the registries of special-purpose addresses that follow it. */
const PRIVATE_RANGES = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  // Unspecified, loopback, and IPv4-compatible addresses.
  ['::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
] as const;

const privateAddresses = new BlockList();
for (const [net, prefix, family] of PRIVATE_RANGES) privateAddresses.addSubnet(net, prefix, family);

/**
 * Whether an IP address belongs to this machine, its network or nobody: loopback, link-local, private, shared, multicast,
 * unspecified. Addresses of IPv6 that stand for one of IPv4 (mapped, NAT64, 6to4) are that one.
 *
 * @param address an address without brackets; a zone (`fe80::1%eth0`) may follow
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.split('%', 1)[0]!;
  switch (isIP(bare)) {
    case 4:
      return privateAddresses.check(bare, 'ipv4');
    case 6: {
      const embedded = embeddedIpv4(bare);
      return embedded === null
        ? privateAddresses.check(bare, 'ipv6')
        : privateAddresses.check(embedded, 'ipv4');
    }
    default:
      return false;
  }
}

/** The IPv4 address that one of IPv6 stands for: mapped (RFC 4291), NAT64 (RFC 6052) or 6to4 (RFC 3056). */
function embeddedIpv4(address: string): string | null {
  const groups = groupsOf(address);
  const is = (...start: number[]): boolean => start.every((group, index) => groups[index] === group);
  if (is(0, 0, 0, 0, 0, 0xffff) || is(0x64, 0xff9b, 0, 0, 0, 0)) return dotted(groups[6]!, groups[7]!);
  return is(0x2002) ? dotted(groups[1]!, groups[2]!) : null;
}

/** The eight numbers of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  // A URL's host is in canonical form: hexadecimal groups, the longest run of zeros as "::".
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [left = '', right] = canonical.split('::');
  const numbers = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const start = numbers(left);
  const end = right === undefined ? [] : numbers(right);
  return [...start, ...new Array<number>(8 - start.length - end.length).fill(0), ...end];
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
