import { statSync, unlinkSync } from "node:fs";
import { connect, type Server } from "node:net";
import { errnoOf } from "../errors.js";

/** Listens on a unix socket that only this user may connect to. The umask applies while `listen` creates it, so that another user can never connect. */
export function listenPrivately(server: Server, path: string): void {
  const before = process.umask(0o177);
  try {
    server.listen({ path });
  } finally {
    process.umask(before);
  }
}

/** Removes the socket of a listener that was killed. A file that is not a socket stays, and so does a socket in use. */
export async function removeDeadSocket(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const isDead = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error) => resolve(errnoOf(error) === "ECONNREFUSED"));
  });
  if (isDead) unlinkSync(path);
}
