import { BlockList, isIP } from 'node:net';

/** A range of IP addresses, such as `['169.254.0.0', 16]`. */
type AddressRange = readonly [network: string, prefixLength: number];

/**
 * Makes a test for IP addresses, with or without brackets and zone (`[fe80::1%eth0]`), within ranges. An IPv6 address that
 * embeds IPv4 addresses (mapped, translated, compatible, NAT64, 6to4, Teredo, ISATAP) also counts as these. A name is in
 * no range.
 */
function createAddressSet(ranges: readonly AddressRange[]): (host: string) => boolean {
  const blockList = new BlockList();
  for (const [network, prefixLength] of ranges) {
    blockList.addSubnet(network, prefixLength, isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return (host) => {
    const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/s, '');
    switch (isIP(address)) {
      case 4:
        return blockList.check(address, 'ipv4');
      case 6:
        return (
          blockList.check(address, 'ipv6') ||
          embeddedIpv4(address).some((embedded) => blockList.check(embedded, 'ipv4'))
        );
      default:
        return false;
    }
  };
}

/** Positions of the four bytes of an IPv4 address in the sixteen of an IPv6 address. */
const LAST = [12, 13, 14, 15];

/** Prefixes of IPv6 addresses, and the positions at which they embed IPv4 addresses. */
const EMBEDDINGS: readonly (readonly [
  prefix: readonly number[],
  positions: readonly (readonly number[])[],
])[] = [
  [[0, 0, 0, 0, 0, 0], [LAST]], // compatible, RFC 4291 section 2.5.5.1
  [[0, 0, 0, 0, 0, 0xffff], [LAST]], // mapped, RFC 4291 section 2.5.5.2
  [[0, 0, 0, 0, 0xffff, 0], [LAST]], // translated, RFC 2765 section 2.1
  [[0x64, 0xff9b, 0, 0, 0, 0], [LAST]], // NAT64, RFC 6052
  // Local NAT64, RFC 8215: prefixes of 48, 56, 64 and 96 bits, and byte 8 is none of the address (RFC 6052 section 2.2).
  [
    [0x64, 0xff9b, 1],
    [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST],
  ],
  [[0x2002], [[2, 3, 4, 5]]], // 6to4, RFC 3056
  [[0x2001, 0], [[4, 5, 6, 7]]], // the server of Teredo, RFC 4380
];

function embeddedIpv4(address: string): string[] {
  const groups = groupsOf(address);
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff]);
  const dotted = (positions: readonly number[]): string => positions.map((at) => bytes[at]).join('.');
  const found = EMBEDDINGS.filter(([prefix]) =>
    prefix.every((group, index) => groups[index] === group),
  ).flatMap(([, positions]) => positions.map(dotted));
  const [first, second, , , fifth = 0, sixth] = groups;
  // The client of Teredo, whose bits are inverted.
  if (first === 0x2001 && second === 0) found.push(LAST.map((at) => 255 - (bytes[at] ?? 0)).join('.'));
  // ISATAP, RFC 5214: under any prefix.
  if ((fifth & ~0x200) === 0 && sixth === 0x5efe) found.push(dotted(LAST));
  return found;
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

/**
 * Whether no request may go to an address at all: link-local (RFC 3927, RFC 4291), where clouds serve the credentials of a
 * machine, or a cloud's metadata service. False for a name: check its addresses when you connect.
 *
 * @param host an address, with or without brackets and zone, or a name
 */
export const isForbiddenAddress: (host: string) => boolean = createAddressSet([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  // Metadata services at other addresses.
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
]);

/**
 * Whether an IP address belongs to this machine, its network or no host: loopback, link-local, private, shared,
 * multicast, unspecified (RFC 6890 and the registries of special-purpose addresses that follow it).
 */
export const isPrivateAddress: (address: string) => boolean = createAddressSet([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Unspecified, loopback, and IPv4-compatible addresses.
  ['::', 96],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);
