/** What the benchmark of downloads asks: one large file with its checksum, and any number of small ones. Started as a process of its own. */
import { createCipheriv, createHash } from 'node:crypto'
import { createServer } from 'node:http'

const MIB = 2 ** 20
const SMALL = 64 * 1024

function serve(large) {
  const ring = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16)).update(Buffer.alloc(16 * MIB))
  const hash = createHash('sha256')
  for (let at = 0; at < large; at += ring.length) hash.update(ring.subarray(0, Math.min(ring.length, large - at)))
  const small = ring.subarray(0, SMALL)
  const server = createServer((request, response) => {
    const isLarge = request.url === '/large.bin'
    const size = isLarge ? large : SMALL
    const [, from = '0', to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    const [start, end] = [Number(from), to ? Math.min(size, Number(to) + 1) : size]
    const head = { 'content-length': end - start, etag: `"${size}"`, 'accept-ranges': 'bytes' }
    if (request.headers.range) response.writeHead(206, { ...head, 'content-range': `bytes ${start}-${end - 1}/${size}` })
    else response.writeHead(200, head)
    if (!isLarge) return response.end(small.subarray(start, end))
    let at = start
    const more = () => {
      while (at < end) {
        const place = at % ring.length
        const piece = ring.subarray(place, Math.min(ring.length, place + MIB, place + end - at))
        at += piece.length
        if (!response.write(piece)) return
      }
      response.end()
    }
    response.on('drain', more)
    return more()
  })
  server.listen(0, '127.0.0.1', () => {
    process.send({ origin: `http://127.0.0.1:${server.address().port}`, checksum: `1220${hash.digest('hex')}` })
  })
}

serve(Number(process.argv[2]))
