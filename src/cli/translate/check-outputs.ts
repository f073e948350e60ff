import { newPath } from '../../node/write-file.ts'
import { usageError } from '../usage.ts'
import { checkHandleFile } from './handle-file.ts'
import type { DocumentInput, TextInput } from './inputs.ts'

/**
 * Refuses what cannot be written, before anything is paid for. Errors: `USAGE` for two inputs with one output, `PATH_EXISTS`, `PATH_UNSAFE`,
 * `FILE_ACCESS`.
 */
export async function checkOutputs(inputs: readonly (TextInput | DocumentInput)[]): Promise<void> {
  const taken = new Map<string, string>()
  for (const { kind, name, output } of inputs) {
    if (output === undefined) continue
    const path = await newPath(output)
    const other = taken.get(path)
    if (other !== undefined)
      throw usageError(`"${other}" and "${name}" would both be written to "${output}": translate one after the other`)
    taken.set(path, name)
    if (kind === 'document') await checkHandleFile(output)
  }
}
