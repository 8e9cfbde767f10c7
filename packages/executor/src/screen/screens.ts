import type { OutputLog } from "@codex/exec-backend";
import type { TerminalSize } from "@codex/executor-protocol";
import { SessionError } from "../errors.js";
import { MAX_SCREEN_CELLS, SCREEN_RENDER_MS } from "../limits.js";
import { Screen, type ScreenView } from "./screen.js";
import type { SizeHistory } from "./size-history.js";
import type { HeadlessTerminal } from "./terminal.js";

/** A session that may have a screen. */
export interface ScreenOwner {
  readonly id: number;
  readonly process: { readonly log: OutputLog };
  /** The sizes of its terminal; undefined on pipes. */
  readonly sizes: SizeHistory | undefined;
}

/** The screens of one orchestrator's sessions, rendered when they are read. */
export class Screens {
  readonly #limit: number;
  /** A screen is dropped with its session. */
  readonly #screens = new WeakMap<ScreenOwner, Screen>();
  /** Sessions with a screen, least recently read first. */
  #kept: WeakRef<ScreenOwner>[] = [];
  #create: Promise<(size: TerminalSize) => HeadlessTerminal> | undefined;

  /** @param limit maximum number of retained screens */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The current screen of a session. @param styled with colors @throws ToolError */
  async read(session: ScreenOwner, signal: AbortSignal, styled: boolean): Promise<ScreenView> {
    const { sizes, process, id } = session;
    if (sizes === undefined) {
      throw new SessionError(
        id,
        `has no screen: it runs on pipes; read_output reads its output, and tty=true gives a command a terminal`,
      );
    }
    const { rows, cols } = sizes.last;
    if (rows * cols > MAX_SCREEN_CELLS) {
      throw new SessionError(
        id,
        `has a terminal of ${rows} rows and ${cols} columns; a screen is rendered up to ${MAX_SCREEN_CELLS} cells`,
      );
    }
    const create = await this.#load();
    const screen = this.#screens.get(session) ?? new Screen(create(sizes.last), process.log, sizes);
    this.#screens.set(session, screen);
    this.#touch(session);
    return this.#render(session, screen, { signal, styled });
  }

  async #render(
    session: ScreenOwner,
    screen: Screen,
    { signal, styled }: { signal: AbortSignal; styled: boolean },
  ): Promise<ScreenView> {
    try {
      const view = await screen.read(signal, SCREEN_RENDER_MS, styled);
      if (view !== undefined) return view;
    } catch (error) {
      this.#screens.delete(session);
      throw error;
    }
    const { end } = session.process.log;
    const why = signal.aborted ? "the call was cancelled" : `rendering takes more than ${SCREEN_RENDER_MS} ms`;
    throw new SessionError(
      session.id,
      `has a screen that was rendered up to byte ${screen.position} of ${end}: ${why}; call again to continue from there`,
    );
  }

  #load() {
    this.#create ??= import("./terminal.js").then(({ loadTerminal }) => loadTerminal());
    return this.#create;
  }

  #touch(session: ScreenOwner): void {
    this.#kept = this.#kept.filter((ref) => {
      const kept = ref.deref();
      return kept !== undefined && kept !== session && this.#screens.has(kept);
    });
    this.#kept.push(new WeakRef(session));
    for (const ref of this.#kept.splice(0, Math.max(0, this.#kept.length - this.#limit))) {
      const dropped = ref.deref();
      if (dropped !== undefined) this.#screens.delete(dropped);
    }
  }
}
