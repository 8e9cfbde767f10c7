import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createCuttingProxy } from "@codex/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServerBundle } from "../../../cli/src/server-bundle.js";
import { ENV } from "../../../process-host/test/support.js";
import { createRemoteEnvironment, createSshLink } from "../../src/index.js";
import { NO_SSHD, type Sshd, startSshd } from "./sshd.js";

const bundle = createServerBundle(fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url)));

/** ssh notices it in 4 s and not in the 45 s that the link asks of it: for each option the first value counts. */
const IMPATIENT = ["-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=3"];
const POLL = { timeout: 60_000, interval: 20 };

/** A connection that stays open and carries nothing any more. */
interface Path {
  port: number;
  freeze(): void;
}

/** The server's processes are stopped: its kernel still acknowledges what is sent. */
async function throughStoppedServer(sshd: Sshd): Promise<Path> {
  const stopped = new Set<number>();
  onTestFinished(() => {
    for (const pid of stopped) kill(pid, "SIGKILL");
  });
  const freeze = () => {
    for (const pid of sshd.listSessions()) {
      stopped.add(pid);
      kill(pid, "SIGSTOP");
    }
  };
  return { port: sshd.port, freeze };
}

/** The network drops everything, in both directions. */
async function throughBlackHole(sshd: Sshd): Promise<Path> {
  const proxy = await createCuttingProxy(`ws://127.0.0.1:${sshd.port}`);
  onTestFinished(() => proxy.close());
  return { port: Number(new URL(proxy.url).port), freeze: () => proxy.stall() };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile
  }
}

describe.skipIf(NO_SSHD !== "")(`a half-open connection over ssh${NO_SSHD}`, { timeout: 240_000 }, () => {
  it.each([
    ["whose server is stopped", throughStoppedServer],
    ["whose network drops everything", throughBlackHole],
  ])("%s is noticed and resumed, and no byte is lost or repeated", async (_, openPath) => {
    const sshd = await startSshd();
    const path = await openPath(sshd);
    const link = createSshLink({
      address: { host: "127.0.0.1", port: path.port },
      ssh: [...sshd.ssh, ...IMPATIENT, "-o", `HostKeyAlias=[127.0.0.1]:${sshd.port}`],
      bundle,
    });
    const environment = createRemoteEnvironment({ id: "remote", kind: "ssh", link });
    onTestFinished(() => environment.close());
    const freeze = async () => {
      await expect.poll(() => environment.state.status, POLL).toBe("ready");
      path.freeze();
      await expect.poll(() => environment.state.status, POLL).toBe("reconnecting");
    };
    const lines = 500_000;
    const script = `seq -f %019.0f ${lines}; while read -r line; do echo "got $line"; done; exit 7`;
    const program = await environment.backend.start({
      argv: ["sh", "-c", script],
      cwd: "/",
      env: ENV,
      stdio: { kind: "pipe", stdin: "open" },
    });
    const pieces: Buffer[] = [];
    let bytes = 0;
    const expected = Buffer.from(Array.from({ length: lines }, (_each, at) => `${pad(at + 1)}\n`).join(""));
    for await (const chunk of program.log.follow()) {
      pieces.push(Buffer.from(chunk.bytes));
      const before = bytes;
      bytes += chunk.bytes.length;
      if (before < 2_000_000 && bytes >= 2_000_000) await freeze();
      if (before < expected.length && bytes >= expected.length) {
        const frozen = freeze();
        await program.write(Buffer.from("one\n"));
        await frozen;
        await program.write(Buffer.from("two\n"));
        await program.closeStdin();
      }
    }
    const output = Buffer.concat(pieces);
    expect(output.subarray(expected.length).toString()).toBe("got one\ngot two\n");
    expect(hashOf(output.subarray(0, expected.length))).toBe(hashOf(expected));
    expect(await program.exited).toEqual({ kind: "exited", code: 7 });
  });
});

const pad = (line: number): string => String(line).padStart(19, "0");
const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
