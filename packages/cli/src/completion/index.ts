export { renderBash } from "./bash.js";
export { type CompletedCommand, type CompletedOption, describeCommands, type Values } from "./describe.js";
export { renderFish } from "./fish.js";
export { renderZsh } from "./zsh.js";
