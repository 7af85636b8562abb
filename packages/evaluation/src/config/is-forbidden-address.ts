import { BlockList, isIP } from 'node:net';

const forbidden = new BlockList();
/** Link-local (RFC 3927, RFC 4291): never a model, and where clouds serve the credentials of a machine. */
forbidden.addSubnet('169.254.0.0', 16, 'ipv4');
forbidden.addSubnet('fe80::', 10, 'ipv6');
/** The same 169.254.0.0/16 inside other notations; `BlockList` knows the mapped one (::ffff:0:0/96) by itself. */
forbidden.addSubnet('::a9fe:0', 112, 'ipv6'); // IPv4-compatible, RFC 4291 section 2.5.5.1
forbidden.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6'); // NAT64, RFC 6052
forbidden.addSubnet('64:ff9b:1::a9fe:0', 112, 'ipv6'); // NAT64 of local use, RFC 8215
forbidden.addSubnet('2002:a9fe::', 32, 'ipv6'); // 6to4, RFC 3056
/** Metadata services of clouds at other fixed addresses. */
forbidden.addAddress('fd00:ec2::254', 'ipv6');
forbidden.addAddress('fd20:ce::254', 'ipv6');
forbidden.addAddress('100.100.100.200', 'ipv4');
forbidden.addAddress('192.0.0.192', 'ipv4');
forbidden.addAddress('168.63.129.16', 'ipv4');

/**
 * Whether no run may send to this address: link-local, or a metadata service of a cloud, in every notation. A name
 * is none of these: what it resolves to has to be asked about when the connection is made.
 *
 * @param host an address, in brackets or with a zone or not, or a name
 */
export function isForbiddenAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/s, '');
  const family = isIP(address);
  return family !== 0 && forbidden.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
