/** Requests on this machine: the transport, its proxies and the certificate authorities that it trusts. */
export { certificatesOf, namedAuthorities, OF_NODE } from './certificate-authorities.ts'
export { environmentProxies } from './proxies.ts'
export { undiciTransport } from './undici-transport.ts'
