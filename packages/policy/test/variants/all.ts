import { BY_CODE } from "./by-code.js";
import { BY_COMPUTING } from "./by-computing.js";
import { BY_COPIES } from "./by-copies.js";
import { BY_GRAMMAR } from "./by-grammar.js";
import { BY_MADE_FILES } from "./by-made-files.js";
import { BY_PROGRAMS } from "./by-programs.js";
import { BY_READING } from "./by-reading.js";
import { BY_RUN_TIME } from "./by-run-time.js";
import { BY_SETTINGS } from "./by-settings.js";
import { BY_SPELLING } from "./by-spelling.js";
import { BY_TOOLS } from "./by-tools.js";
import { IN_BASH } from "./in-bash.js";
import { IN_OTHER_SHELLS } from "./in-other-shells.js";
import type { Variant } from "./variant.js";

/** Spelled out in the text of the command. */
export const SPELLED: readonly Variant[] = [...IN_BASH, ...BY_COMPUTING, ...BY_PROGRAMS, ...IN_OTHER_SHELLS];
/** All ways to run `zap`. */
export const VARIANTS: readonly Variant[] = [
  ...SPELLED,
  ...BY_RUN_TIME,
  ...BY_CODE,
  ...BY_MADE_FILES,
  ...BY_SETTINGS,
  ...BY_COPIES,
  ...BY_SPELLING,
  ...BY_TOOLS,
  ...BY_GRAMMAR,
  ...BY_READING,
];
