import { connectWebSocketChannel } from "../../../dist/websocket/index.js";

/** Connects to each URL, sends 1 MB, closes without waiting for the peer, and ends the process at once. */
const channels = await Promise.all(process.argv.slice(2).map((url) => connectWebSocketChannel(url)));
for (const channel of channels) void channel.send({ text: "x".repeat(1_000_000) });
await Promise.all(channels.map((channel) => channel.close({ awaitPeer: false })));
process.exit();
