// Ignores SIGTERM and leaves a process in a session of its own; writes both process ids to the file it is given.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { WebSocketServer } from "ws";

process.on("SIGTERM", () => {});
const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
writeFileSync(process.argv[2], JSON.stringify([process.pid, child.pid]));
const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}`));
