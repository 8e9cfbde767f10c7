import { listenRendezvous, Rendezvous } from "@codex/rendezvous";

/** A node of a rendezvous until it is killed, or its parent has ended: `PORT [NATS_URL]`. Prints its URL. */
async function main(port = "0", natsUrl = ""): Promise<void> {
  process.stdin.on("end", () => process.exit()).resume();
  const nats = natsUrl === "" ? undefined : await import("@codex/rendezvous/nats");
  const cluster = await nats?.openNatsCluster({ url: natsUrl });
  const rendezvous = new Rendezvous(cluster === undefined ? {} : { cluster });
  const listener = await listenRendezvous(rendezvous, { port: Number(port) });
  process.stdout.write(`${listener.url}\n`);
}

await main(...process.argv.slice(2));
