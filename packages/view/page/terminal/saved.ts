import type { SessionEntity } from "../../src/wire/entities.ts";

/** Content of a terminal, kept over a reload of the page. */
interface SavedTerminal {
  /** Bytes of the session that were on the screen. */
  readonly offset: number;
  /** Output that restores the screen. */
  readonly screen: string;
}

const MAX_SCREEN_CHARACTERS = 1_000_000;
const OPEN = "open terminal";

const keyOf = ({ id, startedAt }: SessionEntity): string => `terminal ${id} ${startedAt}`;

/** Saves it for this tab. If the screen is too large or the storage is full, a reload starts with an empty screen. */
export function saveTerminal(session: SessionEntity, offset: number, screen: string): void {
  try {
    sessionStorage.setItem(OPEN, String(session.id));
    if (screen.length <= MAX_SCREEN_CHARACTERS) {
      sessionStorage.setItem(keyOf(session), JSON.stringify({ offset, screen } satisfies SavedTerminal));
    }
  } catch {
    sessionStorage.clear();
  }
}

export function readSaved(session: SessionEntity): SavedTerminal | undefined {
  const text = sessionStorage.getItem(keyOf(session));
  sessionStorage.removeItem(keyOf(session));
  return text === null ? undefined : (JSON.parse(text) as SavedTerminal); // written above
}

/** The terminal that was open before the reload. */
export function takeOpenTerminal(): number | undefined {
  const text = sessionStorage.getItem(OPEN);
  sessionStorage.removeItem(OPEN);
  return text === null ? undefined : Number(text);
}
