// What Node can do at most: a server that answers each request at once with the same result, and knows nothing else.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { speakLines } from "./wire.mjs";

const RESULT = JSON.stringify({ shell: { name: "bash", path: "/bin/bash" }, cwd: "file:///", note: "x".repeat(512) });
const ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 0x81;

/** An error costs the client more than a result does: where ours answers with one, so does this. */
const answer = (bytes, send) => {
  const { id, method, params } = JSON.parse(bytes);
  if (method === "process/read")
    send(`{"error":{"code":-32600,"message":"unknown process id ${params.processId}"},"id":${id}}`);
  else if (id !== undefined) send(`{"id":${id},"result":${RESULT}}`);
};

if (process.argv.at(-1) === "stdio") {
  const { send } = speakLines(process.stdin, process.stdout, (buffer, start, end) =>
    answer(buffer.utf8Slice(start, end), send),
  );
} else {
  const server = createServer().listen(0, "127.0.0.1", () => console.log(`ws://127.0.0.1:${server.address().port}`));
  server.on("upgrade", ({ headers }, socket) => {
    const accept = createHash("sha1")
      .update(headers["sec-websocket-key"] + ACCEPT)
      .digest("base64");
    socket.setNoDelay(true);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.on("error", () => {});
    socket.on("data", (chunk) =>
      readFrames(chunk, (payload) => answer(payload.utf8Slice(), (text) => send(socket, text))),
    );
  });
}

/** Short masked frames, each whole in one read: the client sends one and waits. */
function readFrames(chunk, onPayload) {
  for (let at = 0; at < chunk.length; ) {
    const short = chunk[at + 1] & 0x7f;
    const mask = at + (short === 126 ? 4 : 2);
    const length = short === 126 ? chunk.readUInt16BE(at + 2) : short;
    const payload = chunk.subarray(mask + 4, mask + 4 + length);
    for (let i = 0; i < length; i++) payload[i] ^= chunk[mask + (i & 3)];
    onPayload(payload);
    at = mask + 4 + length;
  }
}

function send(socket, text) {
  const bytes = Buffer.byteLength(text);
  if (bytes < 126) {
    const frame = Buffer.allocUnsafe(2 + bytes);
    frame[0] = TEXT;
    frame[1] = bytes;
    frame.write(text, 2);
    socket.write(frame);
    return;
  }
  const frame = Buffer.allocUnsafe(4 + bytes);
  frame[0] = TEXT;
  frame[1] = 126;
  frame.writeUInt16BE(bytes, 2);
  frame.write(text, 4);
  socket.write(frame);
}
