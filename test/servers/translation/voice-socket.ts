import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { formPairs } from '../service/form-pairs.ts'
import type { TranslationState } from './state.ts'
import type { VoiceSession } from './voice-sessions.ts'
import { createVoiceStream, type VoiceStream } from './voice-stream.ts'
import { closeCode, createFrameReader, FrameError, frame, type Message, OPCODE } from './websocket-frames.ts'
import { handshakeAnswer, handshakeProblem } from './websocket-handshake.ts'

/** Where sessions are streamed, on the second origin. */
export const VOICE_SOCKET_PATH = '/v3/voice/realtime/connect'

/** Looks for silence this often, in real milliseconds. */
const WATCH = 25

/** Answers an upgrade with a session of its token, and speaks until one of the two ends it. */
export function acceptVoiceSocket(
  state: TranslationState,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  complain: (violation: string) => void,
): void {
  socket.on('error', () => socket.destroy())
  const [path, query = ''] = (request.url ?? '').split('?')
  const problem = path === VOICE_SOCKET_PATH ? upgradeProblem(request) : 'an unknown path'
  const session = problem ? undefined : sessionOf(state, query)
  if (problem) complain(`the upgrade ${path}: ${problem}`)
  if (!session) {
    const status = path !== VOICE_SOCKET_PATH ? '404 Not Found' : problem ? '400 Bad Request' : '403 Forbidden'
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    return
  }
  session.usedToken = true
  socket.write(handshakeAnswer(String(request.headers['sec-websocket-key'])))
  converse(state, session, socket, head, complain)
}

function upgradeProblem(request: IncomingMessage): string | undefined {
  return request.headers.authorization === undefined ? handshakeProblem(request) : 'an authorization field'
}

function sessionOf({ voiceSessions }: TranslationState, query: string): VoiceSession | undefined {
  let pairs: ReturnType<typeof formPairs>
  try {
    pairs = formPairs(query)
  } catch {
    return undefined
  }
  const [name, token] = pairs[0] ?? []
  if (pairs.length !== 1 || name !== 'token') return undefined
  return [...voiceSessions.values()].find((session) => session.token === token && !session.usedToken && !session.ended)
}

function converse(
  state: TranslationState,
  session: VoiceSession,
  socket: Duplex,
  head: Buffer,
  complain: (violation: string) => void,
): void {
  const read = createFrameReader()
  const close = (code: number) => {
    if (!socket.writable) return
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    socket.end(frame(OPCODE.close, payload))
  }
  const stream = createVoiceStream(state, session, {
    send: (opcode, payload) => socket.writable && socket.write(frame(opcode, payload)),
    close,
    drop: () => socket.destroy(),
    complain,
  })
  const watch = setInterval(stream.watch, WATCH).unref()
  session.disconnect = () => socket.destroy()
  socket.once('close', () => {
    clearInterval(watch)
    session.disconnect = undefined
  })
  const receive = (bytes: Buffer) => {
    try {
      for (const message of read(bytes)) take(message, socket, stream, close)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      complain(`a voice session: ${error.message}`)
      session.ended = true
      close(error.code)
    }
  }
  socket.on('data', receive)
  if (head.length) receive(head)
}

function take({ opcode, payload }: Message, socket: Duplex, stream: VoiceStream, close: (code: number) => void): void {
  if (opcode === OPCODE.ping) socket.write(frame(OPCODE.pong, payload))
  else if (opcode === OPCODE.close) close(closeCode(payload) === 1005 ? 1000 : closeCode(payload))
  else if (opcode !== OPCODE.pong) stream.receive(opcode, payload)
}
