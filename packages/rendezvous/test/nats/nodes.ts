// NATS, nodes of a rendezvous as processes of their own, and one address for all of them.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const at = (file: string) => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);

/** Whether `nats-server` is installed. */
export const hasNats = (() => {
  try {
    execFileSync("nats-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Starts NATS with JetStream on a free port. */
export async function startNats() {
  const directory = mkdtempSync(join(tmpdir(), "nats "));
  const child = spawn(
    "nats-server",
    ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", join(directory, "store"), "--ports_file_dir", directory],
    { stdio: "ignore" },
  );
  onTestFinished(async () => {
    await stop(child);
    rmSync(directory, { recursive: true, force: true });
  });
  for (;;) {
    const file = readdirSync(directory).find((name) => name.endsWith(".ports"));
    const text = file === undefined ? "" : readFileSync(join(directory, file), "utf8");
    // It is written in one go, after the port is bound.
    if (text.trimEnd().endsWith("}")) return { url: (JSON.parse(text) as { nats: string[] }).nats[0]!, child };
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts a node. */
export async function startNode(natsUrl: string, options: object = {}) {
  const script = `
    import { listenRendezvous, Rendezvous } from ${at("index.js")};
    import { openNatsCluster } from ${at("nats/index.js")};
    const log = { info: (text, more) => process.env.NODE_LOG && console.error(text, more), warn: (text, more) => console.error(text, more), error: (text, more) => console.error(text, more) };
    const cluster = await openNatsCluster({ url: ${JSON.stringify(natsUrl)}, log });
    const rendezvous = new Rendezvous({ cluster, telemetry: { log }, ...${JSON.stringify(options)} });
    const listener = await listenRendezvous(rendezvous);
    console.log(listener.url);
    process.once("SIGTERM", () => listener.close());`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => stop(child));
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url, child, kill: () => child.kill("SIGKILL") };
}

/** What a process of ends.mjs runs. */
export interface EndsOptions {
  role: "executors" | "harnesses";
  /** Of the rendezvous. */
  url: string;
  /** Numbers of the first one and of the one behind the last. */
  from: number;
  to: number;
  /** Number of all executors: harness n connects to executor n modulo this. */
  executors: number;
  /** Milliseconds between two messages of a harness. */
  intervalMs: number;
  /** Exchanges of each harness after it is asked to finish; a single one is begun at once. */
  exchangesAfter: number;
}

/** Starts executors or harnesses in a process of their own. Resolves when all of them are ready. */
export async function startEnds(options: EndsOptions) {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("ends.mjs", import.meta.url)), JSON.stringify(options)],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  onTestFinished(() => stop(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${options.role} ${options.from} to ${options.to} have ended early`);
    return JSON.parse(value) as { back?: number[]; connected?: number };
  };
  await read();
  return {
    /** Ends each harness after `exchangesAfter` more exchanges. Returns when those that were cut off had their next answer, by `Date.now()`. */
    finish: () => {
      child.stdin.end("finish\n");
      return read();
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** One address for all servers, as a load balancer has it: connections go to each in turn, and to the next where one is refused. */
export async function startBalancer(servers: readonly { url: string }[]) {
  const open = new Set<Socket>();
  let next = 0;
  let accepted = 0;
  const server = createServer((client) => {
    accepted += 1;
    open.add(client);
    client.on("error", () => {}).on("close", () => open.delete(client));
    const first = next++;
    const attempt = (tried: number): void => {
      if (tried === servers.length) return void client.destroy();
      const port = Number(new URL(servers[(first + tried) % servers.length]!.url).port);
      const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
      const retry = () => attempt(tried + 1);
      upstream.once("error", retry);
      upstream.once("connect", () => {
        upstream.off("error", retry).on("error", () => client.destroy());
        open.add(upstream);
        client.pipe(upstream).pipe(client);
        client.once("close", () => upstream.destroy());
        upstream.once("close", () => {
          open.delete(upstream);
          client.destroy();
        });
      });
    };
    client.setNoDelay(true);
    attempt(0);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get accepted() {
      return accepted;
    },
  };
}
