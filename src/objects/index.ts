/** Object stores: lists the objects in a folder, such as a Zarr store or another asset with several files. */
export { type ListOptions, listObjects, type StoredObject } from './list-objects.ts'
