// An exec-server that follows a script: `node scripted-server.mjs SCRIPTS.json LISTEN`.
// SCRIPTS maps the name of a client to what is sent after its first, second, … message.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { WebSocketServer } from "ws";

const [file, listen] = process.argv.slice(2);
const scripts = JSON.parse(readFileSync(file, "utf8"));
const connections = [];

function serve(wire) {
  const connection = connections.push(wire) - 1;
  let script;
  let count = 0;
  return (text, isBinary) => {
    script ??= scripts[clientOf(text)] ?? "echo";
    if (script === "echo") return wire.send(JSON.stringify({ method: "echo", params: { connection, text, isBinary } }));
    for (const frame of script[count] ?? []) play(wire, frame);
    count += 1;
  };
}

function clientOf(text) {
  try {
    return JSON.parse(text).params?.clientName;
  } catch {
    return undefined;
  }
}

function play(wire, frame) {
  if (frame === "$cut") wire.cut();
  else if (frame === "$close") wire.close();
  else if (typeof frame === "string") wire.send(frame);
  else if (frame.$binary !== undefined) wire.sendBinary(JSON.stringify(frame.$binary));
  else wire.send(JSON.stringify(frame));
}

if (listen === "stdio") {
  const cut = () => process.stdout.destroy();
  const accept = serve({ send: (text) => process.stdout.write(`${text}\n`), cut, close: cut });
  createInterface({ input: process.stdin }).on("line", (line) => accept(line, false));
} else {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("connection", (socket) => {
    const accept = serve({
      send: (text) => socket.send(text),
      sendBinary: (text) => socket.send(Buffer.from(text), { binary: true }),
      cut: () => socket.terminate(),
      close: () => socket.close(1000),
    });
    socket.on("message", (data, isBinary) => accept(data.toString(), isBinary));
  });
  server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}`));
}
