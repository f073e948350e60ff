/** Files, folders and locks of this machine, and the errors of its system. */
export { makeFolder, presentFile, readRegularFile, renameWhenFree, writeFileAtomically } from './files.ts'
export { checkFolder } from './own-file.ts'
export { installCommand, missingPackage, openFilesFailure, readFailure, systemCode, writeFailure } from './system-error.ts'
export { folderHint, folderVariables, temporaryHint, userFolder, withAbsoluteFolders } from './user-folder.ts'
export { newPath, replaceAlone, replaceFile, type Seen, seenFile, writeNewFile } from './write-file.ts'
