export { listOptionCommands } from "../option-commands.js";
export { BUILD_TOOLS } from "../plain-programs.js";
export { SHELLS } from "../shells.js";
export { listSettingFiles, listToolSettings } from "../tool-commands.js";
export { RUNNERS } from "../wrapper-table.js";
export { isWrapper } from "../wrappers.js";
