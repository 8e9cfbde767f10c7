import { createHash, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentEvent } from "@codex/agent";
import type { Orchestrator } from "@codex/orchestrator";
import type { ThreadFacts } from "./live/conversation.js";
import { LiveView } from "./live/live-view.js";
import { ServerThread } from "./server-thread.js";
import type { Rights } from "./wire/messages.js";

/** How a view is served. */
export interface ViewOptions {
  /** 0, the default: any port that is free. */
  readonly port?: number;
  /** Address to listen at; default `127.0.0.1`. Beyond loopback only with `tls`. */
  readonly host?: string;
  /** Certificate chain and private key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Further names by which browsers reach it, as in a URL without the port. */
  readonly names?: readonly string[];
  /** Nobody may answer or type, whatever link they have. */
  readonly readOnly?: boolean;
  /** Ends the turn, when a viewer asks for it. */
  readonly onStop?: () => void;
  /** The server of the view has failed for good; everything else goes on. */
  readonly onProblem?: (problem: string) => void;
}

/** A view that is served. */
export interface View {
  /** Link that may answer and type. It can be used once; the page makes further ones. */
  readonly url: string;
  /** Link that only shows. It can be used once. */
  readonly readOnlyUrl: string;
  /** Another link that can be used once. */
  createLink(rights: Rights): string;
  /** Shows an event of an agent. Never waits. */
  show(event: AgentEvent): void;
  /** Shows what the user asks. */
  showPrompt(text: string): void;
  setThread(facts: ThreadFacts): void;
  /** Resolves when all pages are disconnected and the port is free. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves a page that shows an orchestrator: its environments, sessions, calls and approvals. It listens to events, reads sessions
 * beside the model and answers beside the approver; a failure of it ends no call.
 *
 * ```ts
 * const view = await attachView(orchestrator, { port: 0 });
 * console.log(view.url);
 * ```
 * @throws Error naming the address or the option
 */
export async function attachView(orchestrator: Orchestrator, options: ViewOptions = {}): Promise<View> {
  const { port = 0, host = "127.0.0.1", tls, names = [], readOnly = false } = options;
  if (!isLoopback(host) && tls === undefined) {
    throw new Error(`a view at ${JSON.stringify(host)} can be reached from other hosts: it needs TLS (tls)`);
  }
  const live = new LiveView(orchestrator, {
    publisher: {
      set: (entities) => server.send({ type: "set", entities }),
      drop: (keys) => server.send({ type: "drop", keys }),
    },
    send: (message) => server.send(message),
    answers: !readOnly,
    onStop: options.onStop,
    now: Date.now,
    pause: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
  });
  const server: ServerThread = new ServerThread(
    { host, port, tls, names },
    {
      receive: (message) => live.receive(message),
      restarted: () => live.restarted(),
      failed(problem) {
        live.close();
        options.onProblem?.(`the view has ended: ${problem}`);
      },
    },
  );
  let listeningAt: number;
  try {
    listeningAt = await server.start();
  } catch (error) {
    live.close();
    throw error;
  }
  const place = `${tls === undefined ? "http" : "https"}://${showHost(host, names)}:${listeningAt}`;
  const createLink = (rights: Rights): string => {
    const secret = randomBytes(32).toString("base64url");
    const allowed = readOnly ? "read" : rights;
    server.addToken({ hash: createHash("sha256").update(secret).digest("hex"), rights: allowed });
    return `${place}/#${secret}`;
  };
  live.start();
  return {
    url: createLink("answer"),
    readOnlyUrl: createLink("read"),
    createLink,
    show: (event) => live.conversation.show(event),
    showPrompt: (text) => live.conversation.prompt(text),
    setThread: (facts) => live.conversation.change({ ...facts, state: "idle" }),
    async close() {
      live.close();
      await server.close();
    },
  };
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);

/** The name in links. */
function showHost(host: string, names: readonly string[]): string {
  const name = names[0] ?? host;
  return isIP(name) === 6 ? `[${name}]` : name;
}
