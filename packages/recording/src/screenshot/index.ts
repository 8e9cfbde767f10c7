export {
  renderScreenshot,
  SCREENSHOT_FORMATS,
  type ScreenshotFormat,
  type ScreenshotOptions,
} from "./render-screenshot.js";
