/** SCRAM over HTTP (RFC 7804), whose messages a program makes and checks. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

// MECHANISM in the command stands for the one asked for. It reads a message per line in base64, and writes the next one.
const [port, realm, content, command, ...args] = process.argv.slice(2)
const MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-1']
const LIFE = 30_000

/** A process for one login: told a message, it gives the next one, or nothing when it has given up. */
function login(mechanism) {
  const options = args.map((text) => text.replace('MECHANISM', mechanism))
  const server = spawn(command, options, { stdio: ['pipe', 'pipe', 'ignore'] })
  server.stdin.on('error', () => {})
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const end = () => server.kill()
  const timer = setTimeout(end, LIFE)
  server.on('close', () => clearTimeout(timer))
  const tell = async (message) => {
    server.stdin.write(`${message}\n`)
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      if (/^[rsv]=/.test(Buffer.from(line.value, 'base64').toString())) return line.value
    }
    return undefined
  }
  return { mechanism, tell, end }
}

const logins = new Map()

async function answerTo(authorization = '') {
  const [, mechanism, text = ''] = /^(SCRAM-SHA-(?:1|256)) (.+)$/.exec(authorization) ?? []
  const { sid, data } = Object.fromEntries(text.split(', ').map((param) => /^(\w+)="?(.*?)"?$/.exec(param)?.slice(1) ?? []))
  if (!mechanism || !data) return undefined
  if (sid === undefined) {
    const started = login(mechanism)
    const id = randomBytes(9).toString('base64url')
    const message = await started.tell(data)
    if (message === undefined) return undefined
    logins.set(id, started)
    setTimeout(() => logins.delete(id), LIFE).unref()
    return { 'www-authenticate': `${mechanism} sid=${id}, data=${message}` }
  }
  const going = logins.get(sid)
  logins.delete(sid)
  const message = going?.mechanism === mechanism ? await going.tell(data) : undefined
  going?.end()
  return message && { 'authentication-info': `sid=${sid}, data=${message}` }
}

createServer(async (request, response) => {
  const headers = await answerTo(request.headers.authorization)
  const offer = { 'www-authenticate': MECHANISMS.map((mechanism) => `${mechanism} realm="${realm}"`) }
  const isIn = headers !== undefined && 'authentication-info' in headers
  response.writeHead(isIn ? 200 : 401, headers ?? offer).end(isIn ? content : '')
}).listen(Number(port), '127.0.0.1')
