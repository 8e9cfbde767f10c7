import type { Check } from "./check.js";
import { checkAuditLog, checkConfiguration, checkHome } from "./configuration.js";
import { checkGate } from "./gate.js";
import { checkPipes, checkSandbox, checkTerminal } from "./host.js";
import { checkOpenFiles, checkProcesses, checkTerminals, checkWatches } from "./host-limits.js";
import { checkNetwork } from "./network.js";
import { checkLoopback, checkSharedMemory, checkTemporaryFiles } from "./places.js";
import { checkClock, checkGit, checkLocale, checkNode } from "./runtime.js";
import { checkLimits } from "./session-limits.js";
import { SHELL_CHECKS } from "./shells.js";

/** All checks, in the order in which their findings are shown. */
export const CHECKS: readonly Check[] = [
  checkNode,
  checkPipes,
  checkTerminal,
  checkSandbox,
  checkGate,
  checkNetwork,
  checkLimits,
  ...SHELL_CHECKS,
  checkGit,
  checkOpenFiles,
  checkProcesses,
  checkTerminals,
  checkWatches,
  checkTemporaryFiles,
  checkSharedMemory,
  checkLoopback,
  checkLocale,
  checkClock,
  checkHome,
  checkConfiguration,
  checkAuditLog,
];
