import { described } from '../described.ts'

/** Does the work of an operation; its errors name the operation and the number of requests, none where they say nothing else. */
export async function named<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw described(error, 0, operation)
  }
}
