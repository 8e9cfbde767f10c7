import { once } from "node:events";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { enter } from "./http.js";

interface Shown {
  readonly kind: string;
  readonly id: string;
  readonly [member: string]: unknown;
}

/** A page without a browser: the newest value of everything that is shown. */
export async function connect(link: string) {
  const { base, key, cookie } = await enter(link);
  const socket = new WebSocket(`${base.replace("http", "ws")}/live`, ["codex-view", key], {
    headers: { origin: base, cookie },
  });
  const shown = new Map<string, Shown>();
  let look = () => {};
  socket.on("message", (data, isBinary) => {
    const message = isBinary ? {} : (JSON.parse(String(data)) as { type?: string; entities?: Shown[] });
    for (const entity of message.entities ?? []) shown.set(`${entity.kind} ${entity.id}`, entity);
    look();
  });
  await once(socket, "open");
  onTestFinished(() => socket.terminate());
  return {
    socket,
    say: (message: object) => socket.send(JSON.stringify(message)),
    /** The first that fits, now or later. */
    find: (fits: (entity: Shown) => boolean) =>
      new Promise<Shown>((resolve) => {
        look = () => {
          const found = [...shown.values()].find(fits);
          if (found !== undefined) resolve(found);
        };
        look();
      }),
  };
}
