import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { registerBody, startRendezvous } from "../support.js";

it("connections without an authorized request are few at once, and leave room for others", async () => {
  const { url, post } = await startRendezvous({ limits: { maxUnadmitted: 8 } });
  const sockets: Socket[] = [];
  for (let count = 0; count < 40; count += 1) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").resume();
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}); // a reset
    await once(socket, "connect");
    if (count % 2 === 0) socket.write("POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    sockets.push(socket);
  }
  await expect
    .poll(() => sockets.slice(0, 31).every(({ closed, readableEnded }) => closed || readableEnded))
    .toBe(true);
  const path = "/cloud/environment/env-1/register";
  expect((await post(path, registerBody(), { authorization: "Bearer any" })).status).toBe(200);
  expect(sockets.slice(-6).some(({ closed }) => closed)).toBe(false);
});
