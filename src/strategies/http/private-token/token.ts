import { base64 } from '../../../crypto/base64.ts'
import { sameBytes } from '../../../crypto/same-bytes.ts'
import { AUTHENTICATOR_BYTES, bytesOf, type TokenChallenge, typeName, uint16 } from './token-challenge.ts'

/** A token that can be redeemed once (RFC 9577 §2.2.1). */
export interface PrivateToken {
  readonly tokenType: number
  readonly challengeDigest: Uint8Array
  readonly tokenKeyId: Uint8Array
  /** Base64url with padding, as it is sent; another token has another text. */
  readonly text: string
}

/** Type, nonce, challenge digest and key id. */
const INPUT_BYTES = 98

/** Tokens in base64url with blanks or line breaks between them; a text says what is wrong, never with a part of one. */
export function privateTokens(text: string): readonly PrivateToken[] | string {
  const read = text.trim().split(/\s+/).map(privateToken)
  const problem = read.find((token) => typeof token === 'string')
  return problem ?? (read as readonly PrivateToken[])
}

function privateToken(text: string): PrivateToken | string {
  const bytes = bytesOf(text)
  if (!bytes || bytes.length < 2) return 'is no token in base64url'
  const tokenType = uint16(bytes, 0)
  const authenticator = AUTHENTICATOR_BYTES.get(tokenType)
  if (authenticator === undefined) return 'has a token type that is unknown'
  const length = INPUT_BYTES + authenticator
  if (bytes.length !== length) return `has ${bytes.length} bytes, a token of type ${typeName(tokenType)} has ${length}`
  const padded = base64(bytes).replaceAll('+', '-').replaceAll('/', '_')
  return { tokenType, challengeDigest: bytes.slice(34, 66), tokenKeyId: bytes.slice(66, INPUT_BYTES), text: padded }
}

/** True when the token was issued for that challenge, by the key that the server tells. */
export function answers(token: PrivateToken, { tokenType, digest, tokenKeyId }: TokenChallenge): boolean {
  if (token.tokenType !== tokenType || !sameBytes(token.challengeDigest, digest)) return false
  return tokenKeyId === undefined || sameBytes(token.tokenKeyId, tokenKeyId)
}

/** How many tokens are remembered, the latest ones: issuers may give more than can ever be used. */
const MAX_TOKENS = 10_000

/** The tokens of one issuer, each of which leaves it once. */
export class TokenPool {
  readonly #unspent = new Map<string, PrivateToken>()
  readonly #spent = new Set<string>()

  /** Puts tokens in; one that has left does not come back. */
  add(tokens: readonly PrivateToken[]): void {
    for (const token of tokens) if (!this.#spent.has(token.text)) this.#unspent.set(token.text, token)
    shorten(this.#unspent)
  }

  /** Takes out a token for that challenge, at once: no other request gets the same. */
  take(challenge: TokenChallenge): PrivateToken | undefined {
    for (const token of this.#unspent.values()) {
      if (!answers(token, challenge)) continue
      this.#unspent.delete(token.text)
      this.#spent.add(token.text)
      shorten(this.#spent)
      return token
    }
    return undefined
  }
}

function shorten(collection: Map<string, unknown> | Set<string>): void {
  for (const oldest of collection.keys()) {
    if (collection.size <= MAX_TOKENS) return
    collection.delete(oldest)
  }
}
