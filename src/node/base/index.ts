/** What programs on this machine share: files, folders, locks, and the errors of the system and of servers. */
export { answerFailure } from './answer-failure.ts'
export { makeFolder, presentFile, readRegularFile, renameWhenFree, writeFileAtomically } from './files.ts'
export { newHolder, parseHolder, stateOf } from './lock-holder.ts'
export { checkFolder } from './own-file.ts'
export { openFilesFailure, readFailure, systemCode, writeFailure } from './system-error.ts'
export { folderHint, userFolder, withAbsoluteFolders } from './user-folder.ts'
export { newPath, replaceAlone, replaceFile, type Seen, seenFile, writeNewFile } from './write-file.ts'
