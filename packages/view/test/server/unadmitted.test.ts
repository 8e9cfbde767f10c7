import { once } from "node:events";
import { connect as dial, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../support/client.js";
import { openView } from "../support/orchestrators.js";

it("connections without the key of a viewer are few at once, and leave room for those that have one", async () => {
  const { view } = await openView();
  const early = await connect(view.url);
  const sockets: Socket[] = [];
  for (let count = 0; count < 300; count += 1) {
    const socket = dial(Number(new URL(view.url).port), "127.0.0.1").resume();
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}); // a reset
    await once(socket, "connect");
    sockets.push(socket);
  }
  await expect
    .poll(() => sockets.slice(0, 170).every(({ closed, readableEnded }) => closed || readableEnded))
    .toBe(true);
  const late = await connect(view.createLink("read"));
  for (const { socket } of [early, late]) expect(socket.readyState).toBe(socket.OPEN);
});
