export { keepDirectory } from "./keep-directory.js";
export {
  createShellSnapshots,
  type ShellCommand,
  type ShellSnapshots,
  type ShellSnapshotsOptions,
  type ShellStartup,
} from "./shell-snapshots.js";
