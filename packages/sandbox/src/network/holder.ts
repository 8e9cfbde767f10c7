/**
 * Runs once in a network of its own, as a program of Node: opens the sockets there, hands them to the process that has started it, and ends when that
 * says so, or is gone. Arguments: places `[address, port]`, as JSON. Messages: `{place}` by its index, or `{dns: true}`, with a socket; `{problem}`; at last `{pid}`.
 */
export const HOLDER = `
const { createServer } = require("node:net");
const { createSocket } = require("node:dgram");
const give = (message, handle) => new Promise((resolve) => process.send(message, handle, {}, resolve));
const bound = (socket, listen) =>
  new Promise((resolve) => {
    socket.once("error", (error) => resolve(error));
    listen(() => resolve(undefined));
  });
async function open() {
  for (const [place, [host, port]] of JSON.parse(process.argv[1]).entries()) {
    const server = createServer();
    const error = await bound(server, (done) => server.listen({ port, host, backlog: 511 }, done));
    if (error === undefined) await give({ place }, server);
    else await give({ problem: host + ":" + port + " cannot be used: " + error.message });
  }
  const dns = createSocket("udp4");
  const error = await bound(dns, (done) => dns.bind(53, "127.0.0.1", done));
  if (error === undefined) await give({ dns: true }, dns);
  else await give({ problem: "the port of its DNS cannot be used: " + error.message });
  await give({ pid: process.pid });
}
process.on("message", () => process.exit(0));
process.on("disconnect", () => process.exit(0));
open();
`;
