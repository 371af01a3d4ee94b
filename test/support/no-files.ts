/** For tests that upload nothing: whoever asks for a file fails. */
import type { FileStore } from '../../src/store/files/file-store.ts'

const none = () => {
  throw new Error('This test has no files')
}

export const noFiles: FileStore = {
  incoming: '/nowhere',
  keep: none,
  read: none,
  remove: none,
  close: async () => {},
}
