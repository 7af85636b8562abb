import { BlockList, isIP } from 'node:net';

/** A range of IP addresses, such as `['169.254.0.0', 16]`. */
export type AddressRange = readonly [network: string, prefixLength: number];

/**
 * Makes a test for IP addresses within ranges. An IPv6 address that embeds an IPv4 address (mapped, compatible, NAT64,
 * 6to4) also counts as that address.
 *
 * @returns takes an address, with or without brackets and zone (`[fe80::1%eth0]`); false for a name
 *
 * @example createAddressSet([['127.0.0.0', 8]])('::ffff:127.0.0.1') // true
 */
export function createAddressSet(ranges: readonly AddressRange[]): (host: string) => boolean {
  const blockList = new BlockList();
  for (const [network, prefixLength] of ranges) {
    blockList.addSubnet(network, prefixLength, isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return (host) => {
    const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/s, '');
    switch (isIP(address)) {
      case 4:
        return blockList.check(address, 'ipv4');
      case 6: {
        const embedded = embeddedIpv4(address);
        return blockList.check(address, 'ipv6') || (embedded !== null && blockList.check(embedded, 'ipv4'));
      }
      default:
        return false;
    }
  };
}

/** Prefixes of IPv6 addresses that end in an IPv4 address. */
const EMBEDDING_PREFIXES = [
  [0, 0, 0, 0, 0, 0], // compatible, RFC 4291 section 2.5.5.1
  [0, 0, 0, 0, 0, 0xffff], // mapped, RFC 4291 section 2.5.5.2
  [0x64, 0xff9b, 0, 0, 0, 0], // NAT64, RFC 6052
  [0x64, 0xff9b, 1, 0, 0, 0], // local NAT64, RFC 8215
];

function embeddedIpv4(address: string): string | null {
  const groups = groupsOf(address);
  const beginsWith = (prefix: readonly number[]): boolean =>
    prefix.every((group, index) => groups[index] === group);
  if (EMBEDDING_PREFIXES.some(beginsWith)) return dotted(groups.slice(6));
  return beginsWith([0x2002]) ? dotted(groups.slice(1, 3)) : null; // 6to4, RFC 3056
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

function dotted([high = 0, low = 0]: readonly number[]): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
