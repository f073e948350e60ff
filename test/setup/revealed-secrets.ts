/** Every secret that the code under test reads, and the texts in which one of them stands although it may not. */
import { Secret } from '../../src/auth/credential.ts'

/** Shorter values occur in text by chance. */
const MIN_LENGTH = 12

interface Revealed {
  readonly values: Set<string>
  readonly found: string[]
}

declare global {
  var revealedSecrets: Revealed | undefined
}

/** Remembers where a secret stands in the text; texts that a test asked a secret for must not be passed. */
export function mustHoldNoSecret(place: string, text: string): void {
  for (const value of revealed().values) if (text.includes(value)) revealed().found.push(`${place} holds ${value.slice(0, 4)}…`)
}

/** Where a secret was found since the last call. */
export function secretsFound(): readonly string[] {
  return revealed().found.splice(0)
}

export function forgetSecrets(): void {
  revealed().values.clear()
}

/** Once in a process; the class itself may have copies, when a test replaces modules. */
function revealed(): Revealed {
  globalThis.revealedSecrets ??= { values: new Set(), found: [] }
  return globalThis.revealedSecrets
}

function remember(value: unknown): void {
  if (typeof value !== 'string') return
  for (const line of value.split('\n')) if (line.length >= MIN_LENGTH && !line.startsWith('-----')) revealed().values.add(line)
}

const observed = Symbol.for('stac-auth.test.observed')
if (!Object.hasOwn(Secret.prototype, observed)) {
  const { reveal } = Secret.prototype
  Object.defineProperty(Secret.prototype, observed, { value: true })
  Secret.prototype.reveal = function observing(this: Secret) {
    const value = reveal.call(this)
    if (typeof value === 'string') remember(value)
    else if (value instanceof Promise) value.then(remember, () => {})
    return value
  }
}
