/**
 * The one operation that is measured, as cheap as Node can serve it, so that the clients are what takes time. It refuses what has no
 * key, and forms and JSON without a text.
 */
import { createServer } from 'node:http'

const answer = Buffer.from(JSON.stringify({ translations: [{ detected_source_language: 'EN', text: 'Hallo Welt' }] }))
const headers = { 'content-type': 'application/json', 'content-length': answer.length, 'x-trace-id': '0123456789abcdef' }

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const isRight = request.url === '/v2/translate' && request.headers.authorization === 'DeepL-Auth-Key bench' && body.includes('Hello')
    if (isRight) response.writeHead(200, headers).end(answer)
    else response.writeHead(400).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.once('disconnect', () => process.exit())
