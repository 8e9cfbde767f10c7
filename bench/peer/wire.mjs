// The client's side of the wire, as thin as it gets: what is measured shall be the server. Whole messages as Buffers.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";

const LINE_FEED = 0x0a;

/** One message per line. `onMessage(buffer, start, end)`: the bytes are valid during the call. */
export function speakLines(input, output, onMessage) {
  let carried = [];
  input.on("data", (chunk) => {
    let start = 0;
    for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, start)) {
      if (carried.length === 0) onMessage(chunk, start, feed);
      else {
        const line = Buffer.concat([...carried, chunk.subarray(start, feed)]);
        carried = [];
        onMessage(line, 0, line.length);
      }
      start = feed + 1;
    }
    if (start < chunk.length) carried.push(chunk.subarray(start));
  });
  return { send: (text) => output.write(`${text}\n`) };
}

/** One message per text frame of RFC 6455. */
export async function speakWebSocket(url, onMessage) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
  );
  const [head] = await once(socket, "data");
  if (!/^HTTP\/1\.1 101 /.test(head.toString("latin1"))) throw new Error(`no websocket at ${url}: ${head}`);
  const feed = createFrameReader(socket, onMessage);
  feed(head.subarray(head.indexOf("\r\n\r\n") + 4));
  socket.on("data", feed);
  socket.on("error", () => {});
  return { send: (text) => socket.write(encodeFrame(TEXT, Buffer.from(text))), close: () => socket.destroy() };
}

const TEXT = 0x1;
const PING = 0x9;
const PONG = 0xa;
const MASK = Buffer.from([0x5a, 0xc3, 0x17, 0x88]);

/** Masked, as everything a client sends. */
function encodeFrame(opcode, payload) {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + extended + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) frame.writeUInt16BE(length, 2);
  if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const at = 2 + extended + 4;
  frame.set(MASK, at - 4);
  for (let i = 0; i < length; i++) frame[at + i] = payload[i] ^ MASK[i & 3];
  return frame;
}

/** Takes the bytes as they come; frames of a server are not masked, and ours are never split by it. */
function createFrameReader(socket, onMessage) {
  let waiting = [];
  let bytes = 0;
  let needed = 2;
  return (chunk) => {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) return;
    const buffer = waiting.length === 1 ? chunk : Buffer.concat(waiting);
    let at = 0;
    for (;;) {
      const frame = parseFrame(buffer, at);
      needed = frame.needed;
      if (at + needed > buffer.length) break;
      const opcode = buffer[at] & 0xf;
      const end = at + needed;
      if (opcode === TEXT) onMessage(buffer, end - frame.length, end);
      else if (opcode === PING) socket.write(encodeFrame(PONG, buffer.subarray(end - frame.length, end)));
      at = end;
    }
    waiting = at === buffer.length ? [] : [buffer.subarray(at)];
    bytes = buffer.length - at;
  };
}

/** `needed`: bytes of the whole frame, or of its head while that is not there yet. */
function parseFrame(buffer, at) {
  const left = buffer.length - at;
  if (left < 2) return { needed: 2, length: 0 };
  const short = buffer[at + 1] & 0x7f;
  if (short < 126) return { needed: 2 + short, length: short };
  const head = short === 126 ? 4 : 10;
  if (left < head) return { needed: head, length: 0 };
  const length = short === 126 ? buffer.readUInt16BE(at + 2) : Number(buffer.readBigUInt64BE(at + 2));
  return { needed: head + length, length };
}
