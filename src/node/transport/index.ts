/** Requests on this machine: the transport, its proxies and certificate authorities, and the errors of what servers answer. */
export { answerFailure } from '../base/answer-failure.ts'
export { certificatesOf, namedAuthorities, OF_NODE } from './certificate-authorities.ts'
export { environmentProxies } from './proxies.ts'
export { undiciTransport } from './undici-transport.ts'
