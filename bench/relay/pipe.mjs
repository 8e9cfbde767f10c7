// Passes the bytes of each connection on to a port of this host, and does nothing else. Prints its port.
import { connect, createServer } from "node:net";

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ port: Number(process.argv[2]), host: "127.0.0.1", noDelay: true });
  near.pipe(far).pipe(near);
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
