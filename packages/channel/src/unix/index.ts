export { listenPrivately, removeDeadSocket } from "./unix-socket.js";
