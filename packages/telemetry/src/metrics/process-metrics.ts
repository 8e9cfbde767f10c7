import type { Registry } from "./registry.js";

/** Registers memory, CPU and start time of this process, under the names that Prometheus clients use. */
export function observeProcess(registry: Registry, build: { version: string; role: string }): void {
  registry.gauge({
    name: "codex_build_info",
    help: "Always 1; version and role are in the labels.",
    labels: build,
  }).value = 1;
  const started = Date.now() / 1000 - process.uptime();
  registry.gauge({
    name: "process_start_time_seconds",
    help: "When the process was started, seconds since the epoch.",
  }).value = started;
  registry.observe(
    "counter",
    { name: "process_cpu_seconds_total", help: "Processor time of the process, seconds." },
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  );
  registry.observe(
    "gauge",
    { name: "process_resident_memory_bytes", help: "Resident memory of the process, bytes." },
    () => process.memoryUsage.rss(),
  );
}
