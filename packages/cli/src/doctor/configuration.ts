import { statSync } from "node:fs";
import { codexHome, loadUserConfig } from "@codex/config";
import { type Check, ok, problem, warning } from "./check.js";
import { couldWrite, isWritable, nearestExisting } from "./places.js";

export const checkHome: Check = {
  name: "codex home",
  run() {
    const home = codexHome();
    const existing = nearestExisting(home);
    if (existing !== home) {
      if (isWritable(existing)) return ok(`${home} does not exist yet`);
      return warning(
        `${home} does not exist and cannot be created`,
        "create it, or point CODEX_HOME elsewhere: rules are saved in it",
      );
    }
    const info = statSync(home);
    if (!info.isDirectory()) return problem(`${home} is not a directory`, "point CODEX_HOME at a directory");
    const { mode, uid } = info;
    const isShared = (mode & 0o022) !== 0;
    if (isShared) {
      return problem(
        `${home} is writable by others (mode ${(mode & 0o777).toString(8)})`,
        `chmod go-w ${home}: whoever can write there can allow commands`,
      );
    }
    if (uid !== process.getuid?.() && uid !== 0) {
      return problem(
        `${home} belongs to user ${uid}`,
        `chown it, or point CODEX_HOME elsewhere: its owner can allow commands`,
      );
    }
    return isWritable(home)
      ? ok(home)
      : warning(`${home} is not writable`, "make it writable for this user: rules are saved in it");
  },
};

export const checkConfiguration: Check = {
  name: "configuration",
  async run() {
    const config = await loadUserConfig({}).catch((error: unknown) => error as Error);
    if (config instanceof Error) return problem(`it does not load: ${config.message}`, "fix that setting");
    const { notices } = config;
    const [first] = notices;
    if (first === undefined) return ok("it loads");
    return warning(
      notices.length === 1
        ? `a setting is ignored: ${first}`
        : `${notices.length} settings are ignored; the first: ${first}`,
      "`codex config show` lists them",
    );
  },
};

export const checkAuditLog: Check = {
  name: "audit log",
  async run() {
    const config = await loadUserConfig({}).catch(() => undefined);
    if (config === undefined)
      return warning("unknown, because the configuration does not load", "fix the configuration first");
    const { enabled, required, path } = config.settings.audit;
    if (!enabled && !required) return ok("off");
    if (couldWrite(path)) return ok(path);
    const fix = "make it writable for this user, or set audit.path";
    return required
      ? problem(`${path} cannot be written: nothing will be run`, fix)
      : warning(`${path} cannot be written`, fix);
  },
};
