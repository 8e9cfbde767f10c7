export { quoteWords, visible, visibleLine, visibleText } from "./visible.js";
