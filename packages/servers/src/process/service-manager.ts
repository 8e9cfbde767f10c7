import { sendDatagram } from "@codex/native";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";

/** The service manager that started this process, told about its state by the protocol of `sd_notify`; nobody without one. */
export interface ServiceManager {
  /** It serves. @param status one line for people */
  ready(status: string): void;
  /** It reads its files again, and has done so when `work` returns. */
  reload(work: () => void): void;
  /** It drains, and ends within `ms` milliseconds. */
  stopping(ms: number): void;
  /** Stops the watchdog's signs of life. */
  close(): void;
}

/** What a service manager says in the environment. */
interface Service {
  socket?: string;
  /** Microseconds within which it expects a sign of life. */
  watchdogUs?: number;
  /** Names of the listening sockets that this process inherited as 3, 4, …; `unknown` for one without a name. */
  sockets: readonly string[];
}

let service: Service | undefined;

/**
 * Reads what a service manager has said in the environment, and removes it from there: programs that are started here must neither
 * speak for this process nor take its sockets. Once per process; later calls return the same.
 */
export function takeService(env: NodeJS.ProcessEnv = process.env): Service {
  service ??= readService(env);
  return service;
}

function readService(env: NodeJS.ProcessEnv): Service {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES } = env;
  for (const name of VARIABLES) delete env[name];
  const isMine = (pid: string | undefined) => pid === String(process.pid);
  const watchdogUs = WATCHDOG_PID === undefined || isMine(WATCHDOG_PID) ? Number(WATCHDOG_USEC) : Number.NaN;
  const count = isMine(LISTEN_PID) && /^\d{1,4}$/.test(LISTEN_FDS ?? "") ? Number(LISTEN_FDS) : 0;
  const names = (LISTEN_FDNAMES ?? "").split(":");
  return {
    ...(NOTIFY_SOCKET ? { socket: NOTIFY_SOCKET } : {}),
    ...(watchdogUs > 0 ? { watchdogUs } : {}),
    sockets: Array.from({ length: count }, (_, index) => names[index] || "unknown"),
  };
}

const VARIABLES = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/** Signs of life per watchdog interval: one may be late. */
const SIGNS_PER_INTERVAL = 3;

/** Opens the service manager of this process. Messages that cannot be sent are logged, once. */
export function openServiceManager(log: Pick<Logger, "warn">): ServiceManager {
  const { socket, watchdogUs } = takeService();
  let isBroken = socket === undefined;
  const send = (...lines: readonly string[]) => {
    if (isBroken || socket === undefined) return;
    try {
      sendDatagram(socket, lines.join("\n"));
    } catch (error) {
      isBroken = true;
      log.warn?.("the service manager cannot be told the state", { reason: messageOf(error) });
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    ready(status) {
      send("READY=1", `STATUS=${status}`);
      if (watchdogUs === undefined || socket === undefined) return;
      timer ??= setInterval(() => send("WATCHDOG=1"), watchdogUs / 1000 / SIGNS_PER_INTERVAL).unref();
    },
    reload(work) {
      send("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
      work();
      send("READY=1");
    },
    stopping: (ms) => send("STOPPING=1", `EXTEND_TIMEOUT_USEC=${Math.ceil(ms) * 1000}`, "STATUS=draining"),
    close: () => clearInterval(timer),
  };
}
