export { packFailure, unpackFailure } from "./failure.js";
export { type Message, PACKET_FORMAT, type Packet, packetBytes, postPacket, unpackPacket } from "./packet.js";
