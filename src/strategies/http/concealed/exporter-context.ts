/** What the keying material of a Concealed proof is bound to. */
export interface ProofScope {
  /** Number of the signature scheme (RFC 8446 §4.2.3). */
  readonly signatureScheme: number
  readonly keyId: Uint8Array
  readonly publicKey: Uint8Array
  /** An https address. */
  readonly url: string
  readonly realm: string
}

const utf8 = new TextEncoder()

/** The context value of the key exporter (RFC 9729 §3.1). */
export function exporterContext({ signatureScheme, keyId, publicKey, url, realm }: ProofScope): Uint8Array {
  const { protocol, hostname, port } = new URL(url)
  return Uint8Array.of(
    ...uint16(signatureScheme),
    ...withLength(keyId),
    ...withLength(publicKey),
    ...withLength(utf8.encode(protocol.slice(0, -1))),
    ...withLength(utf8.encode(hostname)),
    ...uint16(port === '' ? 443 : Number(port)),
    ...withLength(utf8.encode(realm)),
  )
}

function uint16(value: number): readonly number[] {
  return [value >> 8, value & 0xff]
}

/** The length comes first, as a variable-length integer of QUIC (RFC 9000 §16); nothing here is as long as 16384 bytes. */
function withLength(bytes: Uint8Array): readonly number[] {
  const { length } = bytes
  return [...(length < 64 ? [length] : uint16(length | 0x4000)), ...bytes]
}
