// Memory, descriptors and processes of a server over time, and the slope of each. Linux.
import { readdirSync, readFileSync } from "node:fs";
import { anonymousMegabytes, privateMegabytes } from "../peer/server.mjs";

export function sample(pid, mark) {
  return {
    at: performance.now() / 3_600_000, // hours
    memory: process.getuid() === 0 ? privateMegabytes(pid) : anonymousMegabytes(pid),
    descriptors: countDescriptors(pid),
    processes: countMarked(mark),
  };
}

/** Undefined for a user who may not read it: a server hides its descriptors from everyone but root. */
export function countDescriptors(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch (error) {
    if (error.code === "EACCES") return undefined;
    throw error;
  }
}

/** Processes whose environment has the mark, whoever their parent is now; servers included. */
export function countMarked(mark) {
  const needle = `SOAK=${mark}`;
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, "latin1").includes(needle);
    } catch {
      return false; // ended meanwhile, or not ours
    }
  }).length;
}

/** Least squares over the samples after the first third, when caches are filled. Per hour, with its standard error. */
export function slope(samples, name) {
  const points = samples.slice(Math.floor(samples.length / 3)).map((one) => [one.at, one[name]]);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const perHour = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const residual = points.reduce((sum, [x, y]) => sum + (y - meanY - perHour * (x - meanX)) ** 2, 0);
  return { perHour, error: Math.sqrt(residual / Math.max(1, points.length - 2) / spread) };
}
