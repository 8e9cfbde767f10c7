import { randomUUID } from "node:crypto";

/** Source of the ids of an executor; for tests: `createCountingIds()`. */
export interface Ids {
  /** A session id from 1000 to 99999 for which `isTaken` is false. */
  session(isTaken: (id: number) => boolean): number;
  /** Id of one result: 6 lowercase hex digits. */
  chunk(): string;
  /** Id of one connection; unguessable, as it is all that is needed to resume the connection. */
  connection(): string;
}

const FIRST_ID = 1_000;
const ID_COUNT = 99_000;
const CHUNK_IDS = 0x1000000;

/** @param random like `Math.random`: at least 0, below 1 */
export const createRandomIds = (random: () => number = Math.random): Ids => ({
  session: (isTaken) => findFree(Math.floor(random() * ID_COUNT), isTaken),
  chunk: () => toChunkId(Math.floor(random() * CHUNK_IDS)),
  connection: () => randomUUID(),
});

/** Deterministic ids: sessions count up from 1000. */
export function createCountingIds(): Ids {
  let sessions = 0;
  let chunks = 0;
  let connections = 0;
  return {
    session: (isTaken) => {
      const id = findFree(sessions, isTaken);
      sessions = (id - FIRST_ID + 1) % ID_COUNT;
      return id;
    },
    chunk: () => toChunkId(chunks++ % CHUNK_IDS),
    connection: () => `connection-${++connections}`,
  };
}

/** The first free id from an offset on, wrapping around. Callers have far fewer ids than there are. */
function findFree(start: number, isTaken: (id: number) => boolean): number {
  for (let step = 0; step < ID_COUNT; step++) {
    const id = FIRST_ID + ((start + step) % ID_COUNT);
    if (!isTaken(id)) return id;
  }
  throw new RangeError(`all ${ID_COUNT} session ids are taken`);
}

const toChunkId = (value: number): string => value.toString(16).padStart(6, "0");
