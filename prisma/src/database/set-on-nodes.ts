/** Makes Citus apply what a transaction sets on its nodes too; it means nothing to other servers. */
export const SET_ON_NODES = "SET LOCAL citus.propagate_set_commands = 'local'";
