import { createAddressSet } from './address-set.ts';

/**
 * Whether an IP address belongs to this machine, its network or no host: loopback, link-local, private, shared,
 * multicast, unspecified (RFC 6890 and the registries of special-purpose addresses that follow it).
 *
 * @param address without brackets; a zone (`fe80::1%eth0`) may follow
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
