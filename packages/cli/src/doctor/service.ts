import { X509Certificate } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTlsIdentity } from "@codex/servers";
import { messageOf } from "@codex/values";
import { type Check, ok, problem, warning } from "./check.js";

/** What a unit file of systemd says of a service. */
interface Unit {
  path: string;
  /** Values by key; of a key that is given several times, the last. */
  values: ReadonlyMap<string, string>;
  words: readonly string[];
}

/** Certificates that end sooner are a warning, days. */
const EXPIRY_DAYS = 14;

/** Checks of an installed service, from its unit file. @throws Error where it cannot be read or starts nothing */
export function serviceChecks(path: string): readonly Check[] {
  const unit = readUnit(path);
  const findValue = (option: string) => {
    const at = unit.words.indexOf(option);
    return at === -1 ? undefined : unit.words[at + 1];
  };
  const files = ["--token-file", "--tls-key", "--tls-cert", "--users", "--ws-token-file", "--jwks-file"] as const;
  const named = files.flatMap((option) => {
    const file = findValue(option);
    return file === undefined || file.includes("$") ? [] : [{ option, file }];
  });
  return [
    { name: "unit", run: () => checkUnit(unit) },
    { name: "program", run: () => checkProgram(unit) },
    ...named.map(({ option, file }) => ({ name: option, run: () => checkFile(option, file) })),
    { name: "certificate", run: () => checkCertificate(findValue("--tls-cert"), findValue("--tls-key")) },
    { name: "probe", run: (signal: AbortSignal) => checkProbe(unit, findValue("--listen"), signal) },
  ];
}

function readUnit(path: string): Unit {
  const text = readFileSync(path, "utf8").replaceAll(/\\\n\s*/g, " ");
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  const words = (values.get("ExecStart") ?? "").split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) throw new Error(`${path} has no ExecStart`);
  return { path, values, words };
}

function checkUnit({ values, words }: Unit) {
  const missing = [
    ...(/^notify/.test(values.get("Type") ?? "") ? [] : ["Type=notify (it is started before it serves)"]),
    ...(values.has("ExecReload") || values.get("Type") === "notify-reload"
      ? []
      : ["ExecReload=/bin/kill -HUP $MAINPID"]),
    ...(values.has("WatchdogSec") ? [] : ["WatchdogSec="]),
    ...(values.get("KillMode") === "mixed"
      ? []
      : ["KillMode=mixed (programs would be asked to end before the server is)"]),
    ...(words.some((word) => word.startsWith("--limit-")) && values.get("Delegate") !== "yes"
      ? ["Delegate=yes (for the limits)"]
      : []),
  ];
  const drain = Number(words[words.indexOf("--drain") + 1]);
  const stop = Number(/^(\d+)s?$/.exec(values.get("TimeoutStopSec") ?? "90")?.[1] ?? Number.NaN);
  if (words.includes("--drain") && stop < drain + 15)
    missing.push(`TimeoutStopSec=${drain + 15} or more (--drain, and what ending takes)`);
  return missing.length === 0
    ? ok("it says all that this command needs")
    : warning(`it lacks ${missing.join(", ")}`, "compare it with deploy/systemd");
}

function checkProgram({ words: [program = ""] }: Unit) {
  try {
    accessSync(program, constants.X_OK);
    return ok(program);
  } catch (error) {
    return problem(messageOf(error), "link it: ln -s …/scripts/codex /usr/local/bin/codex-ts");
  }
}

/** Whoever reads a token or a key is whom it is for. */
function checkFile(option: string, file: string) {
  if (!existsSync(file)) return problem(`${file} does not exist`, `create it, or change ${option}`);
  const { mode, size } = statSync(file);
  if (size === 0) return problem(`${file} is empty`, "write it");
  const isSecret = option !== "--tls-cert" && option !== "--jwks-file";
  if (isSecret && (mode & 0o007) !== 0)
    return problem(`everybody on this host can read or write ${file}`, `chmod o= ${file}`);
  if ((statSync(dirname(file)).mode & 0o022) !== 0 && (statSync(dirname(file)).mode & 0o1000) === 0)
    return warning(`others can replace ${file}: its directory can be written`, `chmod go-w ${dirname(file)}`);
  return ok(file);
}

function checkCertificate(cert: string | undefined, key: string | undefined) {
  if (cert === undefined) return ok("none: on loopback, or behind a proxy that has it");
  if (cert.includes("$")) return ok("given by the service manager, which is not checked here");
  readTlsIdentity({ tlsCert: cert, ...(key === undefined ? {} : { tlsKey: key }) });
  const { validTo } = new X509Certificate(readFileSync(cert));
  const days = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000);
  if (days < 0) return problem(`it has expired on ${validTo}`, "renew it; the service reads it again by itself");
  if (days < EXPIRY_DAYS)
    return warning(`it expires on ${validTo}, in ${days} days`, "renew it; the service reads it again by itself");
  return ok(`valid until ${validTo}`);
}

/** Asks the service whether it serves, where its address is known. */
async function checkProbe(unit: Unit, listen: string | undefined, signal: AbortSignal) {
  const place = listen?.startsWith("fd://")
    ? findSocket(unit.path)
    : /^(?:ws|https?):\/\/([^/]+)/.exec(listen ?? "")?.[1];
  if (place === undefined || place.endsWith(":0")) return ok("its address is not known here: nothing was asked");
  const address = place.replace(/^(?:0\.0\.0\.0|\[::\]|\*)(?=:)/, "127.0.0.1");
  if (unit.words.includes("--tls-cert") || listen?.startsWith("https:"))
    return ok(`${address} speaks TLS: ask https://NAME/readyz by the name of its certificate`);
  const answer = await fetch(`http://${address}/readyz`, { signal });
  if (answer.status === 200) return ok(`http://${address}/readyz says 200`);
  return problem(`http://${address}/readyz says ${answer.status}`, "it drains, or something else listens there");
}

/** The address of the socket unit beside a service. */
function findSocket(path: string): string | undefined {
  const socket = path.replace(/\.service$/, ".socket");
  if (socket === path || !existsSync(join(socket))) return undefined;
  return /^ListenStream=(\S+:\d+)$/m.exec(readFileSync(socket, "utf8"))?.[1];
}
