/** Plays one recording. */
export interface Player {
  /** @param at seconds */
  seek(at: number): void;
  dispose(): void;
}

/** The part of asciinema-player used here; its script defines it globally. */
interface PlayerLibrary {
  create(
    source: { data: string },
    place: HTMLElement,
    options: Record<string, unknown>,
  ): { seek(at: number): Promise<void>; dispose(): void };
}

declare const AsciinemaPlayer: PlayerLibrary;

export function createPlayer(cast: string, place: HTMLElement): Player {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const player = AsciinemaPlayer.create({ data: cast }, place, {
    fit: "width",
    terminalFontSize: "13px",
    idleTimeLimit: 2,
    controls: true,
    preload: true,
    theme: isDark ? "asciinema" : "solarized-light",
  });
  return { seek: (at) => void player.seek(at), dispose: () => player.dispose() };
}
