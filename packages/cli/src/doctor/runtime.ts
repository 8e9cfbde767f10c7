import { type Check, ok, problem, warning } from "./check.js";
import { findProgram } from "./find-program.js";
import { CLOCK_SKEW_S } from "./limits.js";
import { runProgram } from "./run-program.js";
import { withTrialDirectory } from "./trial-directory.js";

/** Minimum version of Node, as in package.json. */
const LEAST_NODE = [20, 19] as const;

export const checkNode: Check = {
  name: "node",
  run() {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const detail = `${process.versions.node} on ${process.platform} ${process.arch}`;
    if (process.platform !== "linux" && process.platform !== "darwin") {
      return problem(detail, "use Linux or macOS: processes of other systems are not supported");
    }
    const [leastMajor, leastMinor] = LEAST_NODE;
    const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor);
    return isOld ? problem(detail, `install Node ${leastMajor}.${leastMinor} or newer`) : ok(detail);
  },
};

export const checkGit: Check = {
  name: "git",
  async run() {
    const found = findProgram("git");
    const fix = "install git: agents work in repositories, and a project is trusted by the root of its repository";
    if (found === undefined) return warning("not found", fix);
    const { code, stdout } = await runProgram(found.path, ["--version"]);
    if (code !== 0) return warning(`${found.path} --version failed with ${code ?? "a signal"}`, fix);
    return ok(`${/\d[\w.]*/.exec(stdout)?.[0] ?? "unknown version"} at ${found.path}`);
  },
};

export const checkLocale: Check = {
  name: "locale",
  run() {
    const { LC_ALL, LC_CTYPE, LANG } = process.env;
    const locale = LC_ALL || LC_CTYPE || LANG || "";
    if (/utf-?8/i.test(locale)) return ok("UTF-8");
    const shown = locale === "" ? "none is set" : "the locale is not UTF-8";
    return warning(shown, "export LANG=C.UTF-8: programs garble text that is not ASCII");
  },
};

/** A clock before this time is wrong: this program did not exist then. Milliseconds since the epoch. */
const EARLIEST_TIME = Date.UTC(2025, 0, 1);

export const checkClock: Check = {
  name: "clock",
  run() {
    const now = Date.now();
    const fix =
      "set the clock and keep it in sync by NTP: otherwise tokens and certificates are refused, and records are dated wrongly";
    if (now < EARLIEST_TIME) return problem(`it is ${new Date(now).toISOString()} here`, fix);
    const skew = withTrialDirectory(({ writtenAt }) => Math.abs(writtenAt - Date.now()) / 1000);
    if (skew !== undefined && skew > CLOCK_SKEW_S) {
      return warning(`file times differ from the clock by ${Math.round(skew)} s`, fix);
    }
    return ok(new Date(now).toISOString());
  },
};
