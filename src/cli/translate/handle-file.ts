/** The private file beside an output that holds what names the uploaded document. */
import { IntegrityError, isAuthError } from '../../errors.ts'
import { newPath } from '../../node/write-file.ts'

/** `guide.de.docx` has `guide.de.docx.handle.json`. */
export function handleFile(output: string): string {
  return `${output}.handle.json`
}

/** Errors: `PATH_EXISTS` for a file that still names a document, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkHandleFile(output: string): Promise<void> {
  const name = handleFile(output)
  await newPath(name).catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    throw new IntegrityError('PATH_EXISTS', `"${name}" exists already: it names a document that was uploaded and not fetched`, {
      hint: `fetch that document with: stac-auth translate --resume ${name} (or remove the file to give it up)`,
    })
  })
}
