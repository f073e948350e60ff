/** What a service says about a failure, for the message of its error. */
import { parsedJson } from '../../http/message.ts'
import { messageInJson, messageInText, type ServerMessage } from '../../http/server-message.ts'

/** Maximum number of characters of the sentence. */
const LONGEST = 500

/**
 * Returns the words of a failure's body as one sentence without secrets, from JSON in any of the common shapes, XML, or one short line of
 * text; nothing from a page of HTML. Secrets are removed again from the decoded words.
 *
 * @param text the body without secrets
 */
export function failureMessage(text: string, scrub: (text: string) => string): ServerMessage {
  const line = text.trim()
  const isShown = line.length <= 200 && !/[\n\0]/.test(line)
  const said = line.startsWith('<') || isShown ? messageInText(text) : messageInJson(parsedJson(line))
  const scrubbed = Object.entries(said).map(([name, words]) => [name, scrub(words)])
  const { message, ...rest }: ServerMessage = Object.fromEntries(scrubbed)
  if (message === undefined) return rest
  return { ...rest, message: message.length > LONGEST ? `${message.slice(0, LONGEST)}…` : message }
}
