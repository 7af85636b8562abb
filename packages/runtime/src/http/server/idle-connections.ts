import type { Server, Socket } from 'node:net';

/**
 * Keeps track of the connections of a server, and gives the way to end those on which nothing has come yet: browsers
 * and load balancers open some in advance. Node counts them as busy, and a server that closes would wait for them.
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
