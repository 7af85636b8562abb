import type { Server, Socket } from 'node:net';

/**
 * Tracks the connections of a server. `end` closes those without a first byte: browsers and load balancers open some in
 * advance. Node counts them as busy, so a closing server would wait for them.
 */
export function idleConnections(server: Server): { end(): void } {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return {
    end: () => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
