/** Above so many unsent bytes the sender is paused. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Passes the messages of one websocket on to another, with back-pressure. */
export function forward(from, to) {
  from.on("message", (data, isBinary) => {
    to.send(data, { binary: isBinary });
    if (to.bufferedAmount < HIGH_WATER_BYTES) return;
    from.pause();
    to._socket.once("drain", () => from.resume());
  });
  from.on("close", () => to.terminate());
}
