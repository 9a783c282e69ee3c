export { packFailure, unpackFailure } from "./failure.js";
export { type Message, PACKET_FORMAT, packPacket, unpackPacket } from "./packet.js";
