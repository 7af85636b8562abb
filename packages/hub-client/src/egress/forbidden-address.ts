import { createAddressSet } from './address-set.ts';

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
