/** How the database of this process is opened: by the engine that it has. */
import * as sqlite from './sqlite/open.ts'

export const { joinDatabase, openDatabase, openForReading, withStartLock } = sqlite
