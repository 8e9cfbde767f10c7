import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { promisify } from "node:util";

/** `sha256:` and a keyed hash of the machine id: the same for every server of this host, without revealing the id. */
export async function getProviderId(): Promise<string> {
  const id = (await readMachineId()) ?? hostname();
  return `sha256:${createHmac("sha256", "exec-server provider").update(id).digest("hex")}`;
}

const MACHINE_ID_FILES: readonly string[] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/** Undefined if the file is empty or missing, as in some containers. */
async function readMachineId(): Promise<string | undefined> {
  if (process.platform === "darwin") return readMacId();
  for (const path of MACHINE_ID_FILES) {
    const id = readText(path)?.trim() ?? "";
    if (id !== "") return id;
  }
  return undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

async function readMacId(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("/usr/sbin/sysctl", ["-n", "kern.uuid"]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
