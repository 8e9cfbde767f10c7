export { renderAnsiRows } from "./ansi.js";
export {
  renderScreenshot,
  SCREENSHOT_FORMATS,
  type ScreenshotFormat,
  type ScreenshotOptions,
} from "./render-screenshot.js";
