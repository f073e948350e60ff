/** What servers write into the body of a failure. */
export interface ServerMessage {
  readonly message?: string
  readonly code?: string
  readonly detail?: string
}

/**
 * The message in a parsed body, looked up where services put it: `message`, `Message`, `error.message`, `error`, `errors[]`,
 * `detail`; `code` or `error.code`. What is not there is left out; nothing is ever thrown.
 */
export function serverMessage(body: unknown): ServerMessage {
  const top = membersOf(body)
  const inner = membersOf(top.error)
  const detail = textOf(top.detail)
  const message = textOf(top.message) ?? textOf(top.Message) ?? textOf(inner.message) ?? textOf(top.error) ?? joined(top.errors) ?? detail
  const code = codeOf(top.code) ?? codeOf(inner.code)
  return {
    ...(message !== undefined && { message: oneLine(message) }),
    ...(code !== undefined && { code }),
    ...(detail !== undefined && { detail }),
  }
}

const LONGEST = 500

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function codeOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value)
}

/** Texts, or objects with a message and perhaps the field it is about. */
function joined(errors: unknown): string | undefined {
  if (!Array.isArray(errors)) return undefined
  const texts = errors.slice(0, 20).flatMap((error: unknown) => {
    const { message, field } = membersOf(error)
    const text = textOf(error) ?? textOf(message)
    return text === undefined ? [] : [typeof field === 'string' ? `${field}: ${text}` : text]
  })
  return texts.length > 0 ? texts.join('; ') : undefined
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}
