import { jsonReply, type Reply } from '../service/reply.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'
import { checkCount, INSTRUCTION_FIELDS, type Instruction, instructionOf, type StyleList, styleOf, touch } from './style-store.ts'

/** Operation 39. */
export function createInstruction(call: Call): Reply {
  const list = styleOf(call)
  checkCount(list.instructions.length + 1)
  const instruction = instructionOf(readBody(call, INSTRUCTION_FIELDS), call.state.ids.uuid())
  change(call, list, [...list.instructions, instruction])
  return jsonReply(201, instruction)
}

/** Operation 40. */
export function getInstruction(call: Call): Reply {
  return jsonReply(200, find(call, styleOf(call)))
}

/** Operation 41. */
export function replaceInstruction(call: Call): Reply {
  const list = styleOf(call)
  const { id } = find(call, list)
  const instruction = instructionOf(readBody(call, INSTRUCTION_FIELDS), id)
  change(
    call,
    list,
    list.instructions.map((old) => (old.id === id ? instruction : old)),
  )
  return jsonReply(200, instruction)
}

/** Operation 42. */
export function deleteInstruction(call: Call): Reply {
  const list = styleOf(call)
  const { id } = find(call, list)
  change(
    call,
    list,
    list.instructions.filter((instruction) => instruction.id !== id),
  )
  return { status: 204 }
}

function change({ state }: Call, list: StyleList, instructions: readonly Instruction[]): void {
  list.instructions = instructions
  touch(list, state)
}

function find({ request }: Call, { instructions }: StyleList): Instruction {
  return instructions.find(({ id }) => id === request.params.instruction_id) ?? refuse(404, 'Custom instruction not found')
}
