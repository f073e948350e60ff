/** One file, from its server to its place. */
import { type AuthError, IntegrityError, isAuthError, NetworkError } from '../../errors.ts'
import { failure } from '../../http/deadline.ts'
import type { HttpResponse } from '../../http/message.ts'
import { type Asked, bareUrl, type Delivery, deliveryOf, rangeHeaders } from './answer.ts'
import { DiskPart } from './disk-part.ts'
import type { KeptEvent, WrittenEvent } from './events.ts'
import type { PlannedFile } from './file-plan.ts'
import { presentFile } from './target-folder.ts'
import type { World } from './world.ts'

/** Fetches a file. Errors: those of the engine, of the transport, `FILE_*`, `PATH_*`, `RANGE_INVALID`, `DISK_FULL`. */
export async function transfer(planned: PlannedFile, world: World): Promise<WrittenEvent | KeptEvent> {
  const { file } = planned
  await world.folder.prepare(file.path)
  const present = await presentFile(file.path)
  if (present && world.existing === 'refuse') throw new IntegrityError('PATH_EXISTS', `"${file.name}" exists already`)
  if (present && world.existing === 'keep') return { kind: 'kept', file, bytes: present.size, verified: [] }
  return new Transfer(planned, world).run()
}

class Transfer {
  readonly #planned: PlannedFile
  readonly #world: World
  #received = 0

  constructor(planned: PlannedFile, world: World) {
    this.#planned = planned
    this.#world = world
  }

  async run(): Promise<WrittenEvent> {
    const { file } = this.#planned
    const part = await DiskPart.create(file.path)
    try {
      const bytes = await this.#fetch(part)
      await part.complete(this.#world.existing === 'replace')
      return { kind: 'written', file, bytes, received: this.#received, verified: ['length'] }
    } catch (error) {
      await part.discard()
      throw error
    }
  }

  async #fetch(part: DiskPart): Promise<number> {
    const { file, wanted } = this.#planned
    const asked: Asked = { offset: 0 }
    const response = await this.#world.send(wanted.targets[0], rangeHeaders(asked))
    if (response.status < 200 || response.status > 299) {
      await response.discard()
      throw new NetworkError(`HTTP_${response.status}`, `${bareUrl(response.url)}: the server answered ${response.status}`, {
        url: response.url,
        status: response.status,
      })
    }
    const delivery = deliveryOf(response, asked)
    this.#world.tell({ kind: 'started', file, resumed: 0, ...(delivery.size !== undefined && { size: delivery.size }) })
    return this.#read(response, delivery, part)
  }

  async #read(response: HttpResponse, { size, length }: Delivery, part: DiskPart): Promise<number> {
    const { file } = this.#planned
    let bytes = 0
    try {
      for await (const chunk of chunksOf(response)) {
        await part.write(bytes, [chunk])
        bytes += chunk.byteLength
        this.#received += chunk.byteLength
        this.#world.tell({ kind: 'progress', file, bytes, ...(size !== undefined && { size }) })
      }
    } catch (error) {
      throw isAuthError(error) ? error : failure(error, this.#world.signal, response.url)
    }
    if (length !== undefined && bytes !== length) throw incomplete(response.url, `${bytes} of ${length} bytes were received`)
    return bytes
  }
}

function chunksOf(response: HttpResponse): AsyncIterable<Uint8Array> {
  return response.chunks?.() ?? ((response.toResponse().body ?? []) as AsyncIterable<Uint8Array>)
}

function incomplete(url: string, problem: string): AuthError {
  return new NetworkError('FILE_INCOMPLETE', `${bareUrl(url)}: ${problem}`, { url, retryable: true })
}
