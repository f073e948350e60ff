/** What the commands below `time projects` and `time customers` do. */
import { numericId } from '../../clients/numeric-id.ts'
import type { RestResource } from '../../clients/rest-resource.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { withExactNumbers } from './exact-numbers.ts'
import { openClient } from './open-client.ts'
import type { TimeOptions } from './options.ts'
import { listText, recordText } from './record-text.ts'
import { type FieldOptions, writtenFields } from './written-fields.ts'

export type TimeResource = 'projects' | 'customers'

/** One command with what it was given; each gives its exit code. Errors: `USAGE`, `REQUEST_INVALID`, those of the client. */
export class TimeActions {
  readonly #name: TimeResource
  readonly #context: Context

  constructor(name: TimeResource, context: Context) {
    this.#name = name
    this.#context = context
  }

  async list(options: TimeOptions): Promise<number> {
    const { io, diagnostics } = this.#context
    const records = await (await this.#resource(options)).list({ signal: io.signal })
    for (const { message } of records.decodeIssues) diagnostics.warn({ code: 'PAGE_UNREAD', message })
    await write(io.stdout, withExactNumbers(options.json ? `${forJson(records, 2)}\n` : listText(records)))
    return EXIT.done
  }

  async get(id: string, options: TimeOptions): Promise<number> {
    const number = numericId(id)
    return this.#print(await (await this.#resource(options)).get(number, this.#call), options)
  }

  async create(options: TimeOptions & FieldOptions): Promise<number> {
    const fields = writtenFields(options)
    return this.#print(await (await this.#resource(options)).create(fields, this.#call), options, 'created')
  }

  async update(id: string, options: TimeOptions & FieldOptions): Promise<number> {
    const number = numericId(id)
    const fields = writtenFields(options)
    return this.#print(await (await this.#resource(options)).update(number, fields, this.#call), options, 'updated')
  }

  async delete(id: string, options: TimeOptions): Promise<number> {
    const number = numericId(id)
    return this.#print(await (await this.#resource(options)).delete(number, this.#call), options, 'deleted')
  }

  get #call() {
    return { signal: this.#context.io.signal }
  }

  /** Values as the service gave them: whoever reads JSON wants those. */
  async #resource(options: TimeOptions): Promise<RestResource> {
    return (await openClient(options, this.#context)).resource(this.#name)
  }

  async #print(record: unknown, { json }: TimeOptions, done?: string): Promise<number> {
    const { io, diagnostics } = this.#context
    await write(io.stdout, withExactNumbers(json ? `${forJson(record ?? null, 2)}\n` : recordText(record)))
    if (done !== undefined) await diagnostics.note(done)
    return EXIT.done
  }
}
